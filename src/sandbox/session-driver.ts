import { messageOf, PtcError } from '../common/errors.js'
import type { LostCause, Step, StepAnswer } from '../common/steps.js'
import type { ValueRef } from '../common/values.js'
import type { SandboxConnection } from './backend.js'
import { type Deferred, deferred } from './deferred.js'
import { interruptCode, interruptFor, type RunningCode, stopAtLimit } from './interrupt.js'
import { causeOf, quoted, reasonOf } from './lost.js'
import { encodeFrame } from './protocol/frames.js'
import { type Restored, toStepAnswer } from './protocol/answers.js'
import {
  type Fence,
  type HostMessage,
  isSameFence,
  protocolVersion,
  type RunnerMessage,
  type ValuePiece,
} from './protocol/messages.js'
import { readMessages } from './protocol/read-messages.js'
import { helloMessage, type SessionFacts } from './protocol/hello.js'
import { runnerFrameLimits } from './protocol/runner-limits.js'
import { type RunnerStep, stepMessage, valuesOf } from './protocol/step-message.js'
import { Deadline } from './deadline.js'
import { graceMs, parseMsPerMebibyte, patienceMs } from './patience.js'
import { SnapshotExchange } from './snapshot-exchange.js'
import type { Snapshot, SnapshotLimits } from './snapshot-receiver.js'
import { type AdvanceOptions, type Attempt, isAnswerTo, joins, type Waiting } from './step-under-way.js'
import { transferValues } from './value-transfer.js'

export interface DriverOptions extends SessionFacts {
  readonly epoch: number
  /** True when the sandbox is older than this connection. */
  readonly resume: boolean
  /** True when the sandbox was found: another worker may drive it, or have driven it. */
  readonly isAttached?: boolean
}

/** Times that a transfer into which another worker wrote begins again. */
const maximumResends = 8

/**
 * Drives one runner over one connection: greets it, sends steps, and turns whatever happens (an answer, the end of the
 * sandbox, silence, nonsense) into the answer of the step. It never rejects for what the sandbox did, only when it was
 * fenced off by a newer driver.
 */
export class SessionDriver {
  readonly #connection: SandboxConnection
  readonly #options: DriverOptions
  /** The runner has said more than its greeting: this connection was good for something. */
  hasSpoken = false
  #greeted = false
  /** Settles when the runner has said which step it took last. */
  readonly #ready = deferred<void>()
  /** The last step that the runner has, or has all it needs for. */
  #taken = 0
  /** The last step that was asked for here. */
  #asked = 0
  #waiting: Waiting | undefined
  #lost: Extract<StepAnswer, { type: 'lost' }> | undefined
  readonly #snapshots = new SnapshotExchange({
    send: (message) => this.#greet(message.fence).then(() => this.#send(message)),
    interruptFor: (end) => interruptFor(this.#connection, end, graceMs).catch(() => undefined),
    lose: (reason) => this.#lose('gone', reason, { kill: true }), // no cell is to blame
  })

  constructor(connection: SandboxConnection, options: DriverOptions) {
    this.#connection = connection
    this.#options = options
    void this.#listen()
    void connection.ended.then((end) => this.#lose(causeOf(end), reasonOf(end)))
  }

  get description(): string {
    return this.#connection.description
  }

  /** True once the sandbox is gone or unusable: a new driver is needed. */
  get isLost(): boolean {
    return this.#lost !== undefined
  }

  /**
   * Runs one step, of whose code earlier connections knew `code`, and gives its answer. A step that is under way is joined.
   *
   * @throws PtcError SANDBOX_FENCED when a newer driver has taken over; what `readValue` throws, and then the runner has
   * not taken the step: it can be asked again, or for another in its place
   */
  advance(step: Step, options: AdvanceOptions, code?: RunningCode): Promise<StepAnswer>
  /** Takes the place of all steps up to this one, in a sandbox where none was taken. */
  advance(step: RunnerStep, options: AdvanceOptions, code?: RunningCode): Promise<StepAnswer | Restored>
  async advance(step: RunnerStep, options: AdvanceOptions, code: RunningCode = {}): Promise<StepAnswer | Restored> {
    if (this.#lost) return this.#lost
    const fence: Fence = [this.#options.epoch, step.number, options.attempt]
    const sending = new AbortController()
    const message = stepMessage(step, fence)
    const mayBeFenced = options.attempt > 1 || this.#options.isAttached === true || step.number <= this.#asked
    this.#asked = Math.max(this.#asked, step.number)
    const attempt: Attempt = { ...options, step, fence, message, mayBeFenced, failed: deferred(), sending, resends: 0 }
    const waiting = this.#await(attempt, code)
    try {
      this.#ask(waiting)
      // A sandbox that was killed because it read nothing has its answer long before the write to it is given up.
      return await Promise.race([waiting.answer.promise, attempt.failed.promise])
    } catch (thrown) {
      // Nobody goes on with the step: who joined it must not wait for ever.
      if (waiting.attempt === attempt) waiting.answer.reject(thrown)
      throw thrown
    } finally {
      attempt.sending.abort()
      if (waiting.attempt === attempt) waiting.deadline.stop()
      if (this.#waiting === waiting && waiting.attempt === attempt) this.#waiting = undefined
    }
  }

  /** Interrupts the code of this step, once; false when it is not under way here. Code that goes on is left to its time limit. */
  async interrupt(step: number): Promise<boolean> {
    const waiting = this.#waiting
    if (waiting?.step !== step) return false
    await interruptCode(this.#connection, waiting)
    return true
  }

  /**
   * The program's state after the step that was answered last; none may be under way. Never rejects; a sandbox that does not
   * answer is ended.
   */
  snapshot(step: number, attempt: number, limits: SnapshotLimits, signal: AbortSignal): Promise<Snapshot> {
    if (this.#lost) return Promise.resolve({ type: 'no_snapshot', reason: this.#lost.reason })
    return this.#snapshots.take([this.#options.epoch, step, attempt], limits, signal)
  }

  /** Lets go without ending the sandbox. */
  async detach(): Promise<void> {
    await this.#connection.detach()
  }

  /** Joins the step if it is under way, else begins it. */
  #await(attempt: Attempt, code: RunningCode): Waiting {
    const before = this.#waiting
    before?.attempt.sending.abort()
    if (before && joins(attempt, before)) {
      before.attempt = attempt
      return before
    }
    before?.answer.reject(new PtcError('SANDBOX_FENCED', 'another step has begun'))
    const answer = deferred<StepAnswer | Restored>()
    const deadline = new Deadline(() => void this.#stop(answer, code))
    code.stopsAt ??= performance.now() + patienceMs(attempt.step, this.#options.limits)
    deadline.start(Math.max(code.stopsAt - performance.now(), 0))
    this.#waiting = { step: attempt.step.number, answer, deadline, attempt, code }
    return this.#waiting
  }

  async #stop(answer: Deferred<StepAnswer | Restored>, code: RunningCode): Promise<void> {
    try {
      await stopAtLimit(this.#connection, code, answer.promise, graceMs)
    } catch (thrown) {
      // What can't be told to stop can't be heard either: it may have ended long ago.
      if (this.#waiting?.answer === answer) this.#lose('gone', `the code can't be told to stop: ${messageOf(thrown)}`)
    }
    if (this.#lost || this.#waiting?.answer !== answer) return
    this.#lose('killed_at_limit', `the code did not stop at its limit of ${this.#options.limits.cellSeconds} seconds`)
  }

  /** Sends the step of the latest attempt, and what it needs. */
  #ask(waiting: Waiting): void {
    const { attempt } = waiting
    attempt.sending = new AbortController()
    this.#sendStep(waiting, attempt.sending.signal).catch((thrown: unknown) => attempt.failed.reject(thrown))
  }

  async #sendStep(waiting: Waiting, signal: AbortSignal): Promise<void> {
    const { step, fence, message } = waiting.attempt
    await this.#greet(fence)
    const refs = valuesOf(step)
    if (refs.length > 0 && step.number > this.#taken) {
      // Another worker may have sent them already; and a runner that is at work on the step would not read them.
      await this.#ready.promise
      if (step.number > this.#taken) await this.#sendValues(refs, waiting, signal)
    }
    if (signal.aborted) return
    await this.#send(message)
    this.#taken = Math.max(this.#taken, step.number)
  }

  async #greet(fence: Fence): Promise<void> {
    if (!this.#greeted) await this.#send(helloMessage(this.#options, fence))
    this.#greeted = true
  }

  /** The step's time begins when its values are with the runner; until then, each piece has as long. */
  async #sendValues(
    refs: readonly ValueRef[],
    { attempt: { step, fence, readValue }, deadline, code }: Waiting,
    signal: AbortSignal,
  ): Promise<void> {
    const { limits } = this.#options
    let units = 0
    const send = async (piece: ValuePiece): Promise<void> => {
      units += piece.text.length
      deadline.start(patienceMs(step, limits))
      await this.#send(piece)
      if (!signal.aborted) deadline.stop()
    }
    deadline.stop()
    await transferValues(refs, { fence, readValue, send, frameBytes: limits.frameBytes, signal })
    if (signal.aborted) return
    const ms = patienceMs(step, limits) + (units / 2 ** 20) * parseMsPerMebibyte
    code.stopsAt = performance.now() + ms
    deadline.start(ms)
  }

  /** Some of the values did not reach the runner: another worker, fenced off by now, was sending as well. */
  #sendAgain(waiting: Waiting, reason: string): void {
    const { attempt } = waiting
    attempt.sending.abort()
    attempt.resends += 1
    if (attempt.resends > maximumResends) {
      this.#lose('protocol', `the sandbox did not get a value in ${maximumResends} transfers: ${reason}`)
      return
    }
    this.#taken = Math.min(this.#taken, waiting.step - 1)
    this.#ask(waiting)
  }

  async #send(message: HostMessage): Promise<void> {
    const frame = encodeFrame(message, this.#options.limits.frameBytes)
    try {
      await this.#connection.send(frame)
    } catch (thrown) {
      // The end of the sandbox says more than the broken pipe; give it a moment to arrive.
      await Promise.race([this.#connection.ended, new Promise((resolve) => setTimeout(resolve, 1_000).unref())])
      this.#lose('gone', `the sandbox takes no input: ${messageOf(thrown)}`)
    }
  }

  async #listen(): Promise<void> {
    const { limits, resume } = this.#options
    const isAwaited = (): boolean =>
      this.#waiting !== undefined || this.#snapshots.isUnderWay || (this.#greeted && !this.#ready.isSettled)
    try {
      const reading = { resume, isAwaited }
      for await (const message of readMessages(this.#connection.received, runnerFrameLimits(limits), reading)) {
        this.#dispatch(message)
      }
    } catch (thrown) {
      this.#lose('protocol', messageOf(thrown))
    }
  }

  #dispatch(message: RunnerMessage): void {
    const waiting = this.#waiting
    this.hasSpoken ||= message.type !== 'ready'
    this.#snapshots.hear(message)
    switch (message.type) {
      case 'ready':
        if (message.protocol !== protocolVersion || message.session !== this.#options.session) {
          this.#lose('protocol', 'the sandbox answered for another session or in another protocol')
        }
        this.#taken = Math.max(this.#taken, message.step)
        this.#ready.resolve()
        return
      case 'output':
        if (waiting && message.step === waiting.step) waiting.attempt.onOutput(message.text)
        return
      case 'interrupted':
        waiting?.interrupted?.resolve()
        return
      case 'snapshot':
      case 'no_snapshot':
        return
      case 'refused':
        if (waiting && isSameFence(waiting.attempt.fence, message.fence)) this.#refused(waiting, message)
        return
      case 'suspended':
      case 'completed':
      case 'failed':
      case 'restored':
        // An answer nobody waits for is a repetition for another driver, or a forgery: neither matters.
        if (waiting && isAnswerTo(waiting, message)) waiting.answer.resolve(toStepAnswer(message))
    }
  }

  #refused(waiting: Waiting, { kind, reason }: Extract<RunnerMessage, { type: 'refused' }>): void {
    const said = quoted(reason)
    if (kind === 'incomplete') this.#sendAgain(waiting, said)
    else if (kind === 'invalid') this.#lose('protocol', `the sandbox refused step ${waiting.step}: ${said}`)
    else if (waiting.attempt.mayBeFenced) waiting.answer.reject(new PtcError('SANDBOX_FENCED', `fenced off: ${said}`))
    else waiting.answer.resolve({ type: 'lost', cause: 'protocol', reason: 'the sandbox made up another worker' })
  }

  #lose(cause: LostCause, reason: string, { kill } = { kill: cause !== 'gone' }): void {
    if (this.#lost) return
    this.#lost = { type: 'lost', cause, reason }
    this.#waiting?.answer.resolve(this.#lost)
    this.#snapshots.end(reason)
    if (kill) void this.#connection.kill().catch(() => undefined)
  }
}
