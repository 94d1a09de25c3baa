import { messageOf, PtcError } from '../common/errors.js'
import type { Limits } from '../common/limits.js'
import type { LostCause, Step, StepAnswer } from '../common/steps.js'
import type { ValueRef } from '../common/values.js'
import type { SandboxConnection, SandboxEnd } from './backend.js'
import { type Deferred, deferred } from './deferred.js'
import { encodeFrame, FrameDecoder } from './protocol/frames.js'
import { toStepAnswer } from './protocol/answers.js'
import {
  type Fence,
  type HostMessage,
  protocolVersion,
  type RunnerMessage,
  runnerMessage,
  type ToolSignature,
  type ValuePiece,
} from './protocol/messages.js'
import { stepMessage, valuesOf } from './protocol/step-message.js'
import { Deadline } from './deadline.js'
import { type ReadValue, transferValues } from './value-transfer.js'

export interface DriverOptions {
  readonly session: string
  readonly epoch: number
  /** Seed of the program's random numbers. */
  readonly seed: number
  readonly tools: readonly ToolSignature[]
  readonly limits: Limits
  /** True when the sandbox is older than this connection. */
  readonly resume: boolean
}

export interface AdvanceOptions {
  /** Of the activity; part of the fence. */
  readonly attempt: number
  /** Printed text as it appears; best effort. */
  readonly onOutput: (text: string) => void
  /** For what the step refers to. */
  readonly readValue: ReadValue
}

/** How long a stopped cell may take to answer before its sandbox is killed. */
const graceMs = 3_000

/** What the runner may take, beside that, to make values of a MiB of JSON text. */
const parseMsPerMebibyte = 1_000

/** A step whose answer is awaited. */
interface Waiting {
  readonly step: number
  readonly answer: Deferred<StepAnswer>
  readonly deadline: Deadline
  onOutput: (text: string) => void
  /** Of the latest attempt; each takes over from the one before. */
  fence: Fence
  transfer: AbortController
}

/**
 * Drives one runner over one connection: greets it, sends steps, and turns whatever happens (an answer, the end of the
 * sandbox, silence, nonsense) into the answer of the step. It never rejects for what the sandbox did, only when it was
 * fenced off by a newer driver.
 */
export class SessionDriver {
  readonly #connection: SandboxConnection
  readonly #options: DriverOptions
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
   * Runs one step and gives its answer. A step already under way (an earlier attempt of the same activity) is joined.
   *
   * @throws PtcError SANDBOX_FENCED when a newer driver has taken over; what `readValue` throws, and then the runner has
   * not taken the step: it can be asked again, or for another in its place
   */
  async advance(step: Step, options: AdvanceOptions): Promise<StepAnswer> {
    if (this.#lost) return this.#lost
    if (this.#waiting?.step !== step.number) {
      this.#waiting?.answer.reject(new PtcError('SANDBOX_FENCED', 'a later step has begun'))
      this.#waiting?.transfer.abort()
      this.#waiting = this.#wait(step.number)
      this.#waiting.deadline.start(this.#patienceMs)
    }
    const waiting = this.#waiting
    waiting.transfer.abort()
    const transfer = (waiting.transfer = new AbortController())
    waiting.fence = [this.#options.epoch, step.number, options.attempt]
    waiting.onOutput = options.onOutput
    try {
      const asked = this.#ask(step, options.readValue, waiting, transfer.signal)
      // A sandbox that was killed because it read nothing has its answer long before the write to it is given up.
      return await Promise.race([waiting.answer.promise, asked.then(() => waiting.answer.promise)])
    } catch (thrown) {
      // Nobody goes on with the step: who joined it must not wait for ever.
      if (waiting.transfer === transfer) waiting.answer.reject(thrown)
      throw thrown
    } finally {
      transfer.abort()
      if (waiting.transfer === transfer) waiting.deadline.stop()
      if (this.#waiting === waiting && waiting.transfer === transfer) this.#waiting = undefined
    }
  }

  /** Lets go without ending the sandbox. */
  async detach(): Promise<void> {
    await this.#connection.detach()
  }

  /** The runner stops code by itself at the limit; this is for code that does not let it. */
  get #patienceMs(): number {
    return this.#options.limits.cellSeconds * 1_000 + graceMs
  }

  #wait(step: number): Waiting {
    const answer = deferred<StepAnswer>()
    const stop = async (): Promise<void> => {
      if (await this.#connection.interrupt().catch(() => false)) {
        await Promise.race([answer.promise, new Promise((resolve) => setTimeout(resolve, graceMs).unref())])
      }
      if (this.#lost || this.#waiting?.answer !== answer) return
      this.#lose('killed_at_limit', `the code did not stop at its limit of ${this.#options.limits.cellSeconds} seconds`)
    }
    const deadline = new Deadline(() => void stop())
    return { step, answer, deadline, fence: [0, 0, 0], onOutput: () => undefined, transfer: new AbortController() }
  }

  async #ask(step: Step, readValue: ReadValue, waiting: Waiting, signal: AbortSignal): Promise<void> {
    const { fence } = waiting
    if (!this.#greeted) await this.#send(this.#hello(fence))
    this.#greeted = true
    const refs = valuesOf(step)
    if (refs.length > 0 && step.number > this.#taken) {
      // Another worker may have sent them already; and a runner that is at work on the step would not read them.
      await this.#ready.promise
      if (step.number > this.#taken) await this.#transfer(refs, readValue, waiting, signal)
    }
    if (signal.aborted) return
    await this.#send(stepMessage(step, fence))
    this.#taken = Math.max(this.#taken, step.number)
  }

  /** The step's time begins when its values are with the runner; until then, each piece has as long. */
  async #transfer(
    refs: readonly ValueRef[],
    readValue: ReadValue,
    { deadline, fence }: Waiting,
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

  #hello(fence: Fence): HostMessage {
    const { session, seed, tools, limits } = this.#options
    return {
      type: 'hello',
      protocol: protocolVersion,
      fence,
      session,
      seed,
      tools,
      limits: {
        cell_seconds: limits.cellSeconds,
        calls_per_cell: limits.callsPerCell,
        captured_characters: limits.capturedCharacters,
        frame_bytes: limits.frameBytes,
        argument_bytes: limits.argumentBytes,
        memory_bytes: limits.memoryBytes,
      },
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
    switch (message.type) {
      case 'ready':
        if (message.protocol !== protocolVersion || message.session !== this.#options.session) {
          this.#lose('protocol', 'the sandbox answered for another session or in another protocol')
        }
        this.#taken = Math.max(this.#taken, message.step)
        this.#ready.resolve()
        return
      case 'output':
        if (waiting && message.step === waiting.step) waiting.onOutput(message.text)
        return
      case 'refused':
        if (!waiting || !isSame(waiting.fence, message.fence)) return
        if (message.reason.startsWith('fenced')) waiting.answer.reject(new PtcError('SANDBOX_FENCED', message.reason))
        else this.#lose('protocol', `the sandbox refused step ${waiting.step}: ${message.reason}`)
        return
      case 'suspended':
      case 'completed':
      case 'failed':
        // An answer nobody waits for is a repetition for another driver, or a forgery: neither matters.
        if (waiting && message.step === waiting.step) waiting.answer.resolve(toStepAnswer(message))
    }
  }

  #lose(cause: LostCause, reason: string): void {
    if (this.#lost) return
    this.#lost = { type: 'lost', cause, reason }
    this.#waiting?.answer.resolve(this.#lost)
    if (cause !== 'gone') void this.#connection.kill().catch(() => undefined)
  }
}

function isSame(one: Fence, other: Fence): boolean {
  return one.every((part, place) => part === other[place])
}

function causeOf(end: SandboxEnd): LostCause {
  return end.reason === 'out_of_memory' ? 'out_of_memory' : 'gone'
}

function reasonOf(end: SandboxEnd): string {
  if (end.reason === 'out_of_memory') return 'the sandbox ran out of memory'
  if (end.reason === 'disconnected') return 'the connection to the sandbox broke'
  const last = end.diagnostics.trim().split('\n').at(-1)
  return `the sandbox ended with exit code ${end.exitCode ?? 'unknown'}${last ? `: ${last.slice(0, 300)}` : ''}`
}
