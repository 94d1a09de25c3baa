import { messageOf, PtcError } from '../common/errors.js'
import type { LostCause, Step, StepAnswer } from '../common/steps.js'
import type { ValueRef } from '../common/values.js'
import type { SandboxConnection } from './backend.js'
import { type Deferred, deferred } from './deferred.js'
import { interruptCode, type RunningCode, withInterrupt } from './interrupt.js'
import { causeOf, reasonOf } from './lost.js'
import { encodeFrame, FrameDecoder } from './protocol/frames.js'
import { toStepAnswer } from './protocol/answers.js'
import {
  type Fence,
  type HostMessage,
  isSameFence,
  protocolVersion,
  type RunnerMessage,
  runnerMessage,
  type ValuePiece,
} from './protocol/messages.js'
import { helloMessage, type SessionFacts } from './protocol/hello.js'
import { stepMessage, valuesOf } from './protocol/step-message.js'
import { Deadline } from './deadline.js'
import type { AdvanceOptions, Attempt, Waiting } from './step-under-way.js'
import { transferValues } from './value-transfer.js'

export interface DriverOptions extends SessionFacts {
  readonly epoch: number
  /** True when the sandbox is older than this connection. */
  readonly resume: boolean
}

/** How long a stopped cell may take to answer before its sandbox is killed. */
const graceMs = 3_000

/** What the runner may take, beside that, to make values of a MiB of JSON text. */
const parseMsPerMebibyte = 1_000

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
  #waiting: Waiting | undefined
  #lost: Extract<StepAnswer, { type: 'lost' }> | undefined

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
  async advance(step: Step, options: AdvanceOptions, code: RunningCode = {}): Promise<StepAnswer> {
    if (this.#lost) return this.#lost
    const fence: Fence = [this.#options.epoch, step.number, options.attempt]
    const sending = new AbortController()
    const attempt: Attempt = { ...options, step, fence, failed: deferred(), sending, resends: 0 }
    const waiting = this.#await(attempt, code)
    try {
      this.#ask(waiting)
      // A sandbox that was killed because it read nothing has its answer long before the write to it is given up.
      const answer = await Promise.race([waiting.answer.promise, attempt.failed.promise])
      return withInterrupt(answer, waiting.code)
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

  /** Lets go without ending the sandbox. */
  async detach(): Promise<void> {
    await this.#connection.detach()
  }

  /** The runner stops code by itself at the limit; this is for code that does not let it. */
  get #patienceMs(): number {
    return this.#options.limits.cellSeconds * 1_000 + graceMs
  }

  /** Joins the step if it is under way, else begins it. */
  #await(attempt: Attempt, code: RunningCode): Waiting {
    const before = this.#waiting
    before?.attempt.sending.abort()
    if (before?.step === attempt.step.number) {
      before.attempt = attempt
      return before
    }
    before?.answer.reject(new PtcError('SANDBOX_FENCED', 'a later step has begun'))
    const answer = deferred<StepAnswer>()
    const deadline = new Deadline(() => void this.#stop(answer))
    deadline.start(this.#patienceMs)
    this.#waiting = { step: attempt.step.number, answer, deadline, attempt, code }
    return this.#waiting
  }

  async #stop(answer: Deferred<StepAnswer>): Promise<void> {
    try {
      const isTold = await this.#connection.interrupt()
      if (isTold) await Promise.race([answer.promise, new Promise((resolve) => setTimeout(resolve, graceMs).unref())])
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
    this.#sendStep(attempt, waiting.deadline, attempt.sending.signal).catch((thrown: unknown) =>
      attempt.failed.reject(thrown),
    )
  }

  async #sendStep(attempt: Attempt, deadline: Deadline, signal: AbortSignal): Promise<void> {
    const { step, fence } = attempt
    if (!this.#greeted) await this.#send(helloMessage(this.#options, fence))
    this.#greeted = true
    const refs = valuesOf(step)
    if (refs.length > 0 && step.number > this.#taken) {
      // Another worker may have sent them already; and a runner that is at work on the step would not read them.
      await this.#ready.promise
      if (step.number > this.#taken) await this.#sendValues(refs, attempt, deadline, signal)
    }
    if (signal.aborted) return
    if (this.#waiting?.attempt === attempt) this.#waiting.code.since ??= performance.now()
    await this.#send(stepMessage(step, fence))
    this.#taken = Math.max(this.#taken, step.number)
  }

  /** The step's time begins when its values are with the runner; until then, each piece has as long. */
  async #sendValues(
    refs: readonly ValueRef[],
    { fence, readValue }: Attempt,
    deadline: Deadline,
    signal: AbortSignal,
  ): Promise<void> {
    let units = 0
    const send = async (piece: ValuePiece): Promise<void> => {
      units += piece.text.length
      deadline.start(this.#patienceMs)
      await this.#send(piece)
      if (!signal.aborted) deadline.stop()
    }
    deadline.stop()
    await transferValues(refs, { fence, readValue, send, frameBytes: this.#options.limits.frameBytes, signal })
    if (!signal.aborted) deadline.start(this.#patienceMs + (units / 2 ** 20) * parseMsPerMebibyte)
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
    const decoder = new FrameDecoder(this.#options.limits.frameBytes, { resume: this.#options.resume })
    try {
      for await (const chunk of this.#connection.received) {
        for (const frame of decoder.push(chunk)) this.#handle(frame)
      }
    } catch (thrown) {
      this.#lose('protocol', messageOf(thrown))
    }
  }

  #handle(frame: unknown): void {
    const parsed = runnerMessage.safeParse(frame)
    if (!parsed.success) {
      this.#lose('protocol', `the sandbox broke the protocol: ${parsed.error.issues[0]?.message ?? 'unknown frame'}`)
      return
    }
    this.#dispatch(parsed.data)
  }

  #dispatch(message: RunnerMessage): void {
    const waiting = this.#waiting
    this.hasSpoken ||= message.type !== 'ready'
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
      case 'refused':
        if (waiting && isSameFence(waiting.attempt.fence, message.fence)) this.#refused(waiting, message)
        return
      case 'suspended':
      case 'completed':
      case 'failed':
        // An answer nobody waits for is a repetition for another driver, or a forgery: neither matters.
        if (waiting && message.step === waiting.step) waiting.answer.resolve(toStepAnswer(message))
    }
  }

  #refused(waiting: Waiting, { kind, reason }: Extract<RunnerMessage, { type: 'refused' }>): void {
    if (kind === 'fenced') waiting.answer.reject(new PtcError('SANDBOX_FENCED', `fenced off: ${reason}`))
    else if (kind === 'incomplete') this.#sendAgain(waiting, reason)
    else this.#lose('protocol', `the sandbox refused step ${waiting.step}: ${reason}`)
  }

  #lose(cause: LostCause, reason: string): void {
    if (this.#lost) return
    this.#lost = { type: 'lost', cause, reason }
    this.#waiting?.answer.resolve(this.#lost)
    if (cause !== 'gone') void this.#connection.kill().catch(() => undefined)
  }
}
