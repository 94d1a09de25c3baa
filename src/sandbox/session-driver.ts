import { messageOf, PtcError } from '../common/errors.js'
import type { Limits } from '../common/limits.js'
import type { LostCause, Step, StepAnswer } from '../common/steps.js'
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
} from './protocol/messages.js'

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
}

/** How long a stopped cell may take to answer before its sandbox is killed. */
const graceMs = 3_000

/** An interrupt that came when no code ran (before its begin, in the middle of a frame) is made again, so often. */
const interrupts = { times: 5, everyMs: 1_000 } as const

interface Waiting {
  readonly step: number
  readonly answer: Deferred<StepAnswer>
  readonly since: number
  onOutput: (text: string) => void
  interruptedAfterMs?: number
  /** The latest interrupt has reached the code. */
  interrupted?: Deferred<void>
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
   * @throws PtcError SANDBOX_FENCED when a newer driver has taken over
   */
  async advance(step: Step, options: AdvanceOptions): Promise<StepAnswer> {
    if (this.#lost) return this.#lost
    if (this.#waiting?.step !== step.number) {
      this.#waiting?.answer.reject(new PtcError('SANDBOX_FENCED', 'a later step has begun'))
      this.#waiting = { step: step.number, answer: deferred(), since: Date.now(), onOutput: options.onOutput }
    }
    const waiting = this.#waiting
    waiting.onOutput = options.onOutput
    const deadline = this.#watchDeadline(waiting.answer)
    try {
      const fence: Fence = [this.#options.epoch, step.number, options.attempt]
      // A sandbox that was killed because it read nothing has its answer long before the write to it is given up.
      const asked = this.#ask(step, fence).then(() => waiting.answer.promise)
      return withInterrupt(await Promise.race([waiting.answer.promise, asked]), waiting)
    } finally {
      clearTimeout(deadline)
      if (this.#waiting === waiting) this.#waiting = undefined
    }
  }

  /** Interrupts the code of this step, once; false when it is not under way here. Code that goes on is left to its time limit. */
  async interrupt(step: number): Promise<boolean> {
    const waiting = this.#waiting
    if (waiting?.step !== step) return false
    waiting.interruptedAfterMs ??= Date.now() - waiting.since
    waiting.interrupted = deferred()
    const settled = Promise.race([waiting.interrupted.promise, waiting.answer.promise]).then(
      () => true,
      () => true,
    )
    const pause = () => new Promise<false>((resolve) => setTimeout(() => resolve(false), interrupts.everyMs).unref())
    for (let time = 0; time < interrupts.times; time += 1) {
      await this.#connection.interrupt().catch(() => false)
      if (await Promise.race([settled, pause()])) break
    }
    return true
  }

  /** Lets go without ending the sandbox. */
  async detach(): Promise<void> {
    await this.#connection.detach()
  }

  #watchDeadline(answer: Deferred<StepAnswer>): NodeJS.Timeout {
    const stop = async (): Promise<void> => {
      if (await this.#connection.interrupt().catch(() => false)) {
        await Promise.race([answer.promise, new Promise((resolve) => setTimeout(resolve, graceMs).unref())])
      }
      if (this.#lost || this.#waiting?.answer !== answer) return
      this.#lose('killed_at_limit', `the code did not stop at its limit of ${this.#options.limits.cellSeconds} seconds`)
    }
    // The runner stops code by itself at the limit; this is for code that does not let it.
    const patience = this.#options.limits.cellSeconds * 1_000 + graceMs
    return setTimeout(() => void stop(), patience)
  }

  async #ask(step: Step, fence: Fence): Promise<void> {
    if (!this.#greeted) await this.#send(this.#hello(fence))
    this.#greeted = true
    await this.#send(stepMessage(step, fence))
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
        return
      case 'output':
        if (waiting && message.step === waiting.step) waiting.onOutput(message.text)
        return
      case 'interrupted':
        waiting?.interrupted?.resolve()
        return
      case 'refused':
        if (message.reason.startsWith('fenced')) waiting?.answer.reject(new PtcError('SANDBOX_FENCED', message.reason))
        else this.#lose('protocol', `the sandbox refused step ${waiting?.step ?? '?'}: ${message.reason}`)
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

function withInterrupt(answer: StepAnswer, { interruptedAfterMs }: Waiting): StepAnswer {
  return answer.type === 'lost' || interruptedAfterMs === undefined ? answer : { ...answer, interruptedAfterMs }
}

function stepMessage(step: Step, fence: Fence): HostMessage {
  const { number, now, input } = step
  if (input.type === 'cell') return { type: 'cell', fence, step: number, now, cell: input.cell, source: input.source }
  if (input.type === 'stop') return { type: 'advance', fence, step: number, now, results: [], stop: input.reason }
  const results = input.results.map(({ index, outcome }) => ({ call: index, outcome }))
  return { type: 'advance', fence, step: number, now, results }
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
