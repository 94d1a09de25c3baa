/**
 * Owns: one connection to one runner, from the handshake to the loss of the sandbox. Turns every event (response, end
 * of the sandbox, timeout, protocol violation) into a step result or a snapshot.
 *
 * Boundary: I/O only. The state machine (table in driver-state.ts) decides the effect of an event; session-host.ts
 * decides which connection follows a lost one.
 *
 * Invariants: 1. At most one operation is in progress. 2. A response resolves only the step with its number and digest.
 * 3. A lost driver stays lost. 4. `executeStep` never rejects because of the sandbox; it rejects only with
 * SANDBOX_FENCED, for a value that can't be read, and for a frame over the limit. 5. A time limit continues over the
 * next connection.
 */
import { withAbortListener } from '../../common/async/abort.js'
import { deferred } from '../../common/async/deferred.js'
import { messageOf } from '../../common/errors.js'
import type { Step, StepResult } from '../../common/session/steps.js'
import { takeEnd } from '../../common/text/text.js'
import type { SandboxConnection } from '../backend.js'
import { resolveBySystem } from '../../network/resolve-host.js'
import type { EgressProxyOptions } from '../network/egress-proxy.js'
import { SandboxNetwork } from '../network/sandbox-network.js'
import { encodeMessage, hostFrameBytes } from '../protocol/frames.js'
import { helloMessage, type SessionInfo } from '../protocol/hello-message.js'
import {
  type Fence,
  type HostMessage,
  protocolVersion,
  type RunnerMessage,
  type RunnerNetworkMessage,
  type ValuePiece,
} from '../protocol/messages.js'
import { readMessages } from '../protocol/read-messages.js'
import { runnerFrameLimits } from '../protocol/runner-limits.js'
import { referencedValues, type RunnerStep, stepMessage } from '../protocol/step-message.js'
import type { RestoreResult } from '../protocol/step-result.js'
import { lostCause, lostReason } from '../sandbox-end.js'
import type { DriverEvent, Effect, OperationKey } from './driver-events.js'
import { type DriverState, initialState, isExpectingMessage, pendingStepOf, sentStepOf } from './driver-state.js'
import { transition } from './driver-transition.js'
import { type ExecuteStepOptions, type Execution, newExecution, type StepAttempt } from './pending-step.js'
import { type FilePart, noSnapshot, type Snapshot, type SnapshotLimits, SnapshotReceiver } from './snapshot-receiver.js'
import { stepLimitSeconds, stopGraceMs } from './step-timeout.js'
import { transferValues } from './value-transfer.js'

interface DriverOptions extends SessionInfo {
  readonly epoch: number
  /** True when the sandbox is older than this connection. */
  readonly resume: boolean
  /** True when the sandbox was found: another worker may drive it, or have driven it. */
  readonly isAttached?: boolean
  /** Bytes of a frame for the runner. Default {@link hostFrameBytes}. Tests need small pieces of values. */
  readonly frameBytes?: number
  /** How the sandbox reaches a network, if its steps may. Default: the resolver of the system. Tests have their own. */
  readonly proxy?: EgressProxyOptions | undefined
}

/**
 * A broken pipe is reported after this delay: the end of the sandbox has more information, and may arrive meanwhile.
 */
const writeFailureDelayMs = 1_000

/** Maximum characters of printed text that an attempt gets when it joins a step. */
const maxPrintedCharacters = 500

export class SessionDriver {
  readonly #connection: SandboxConnection
  readonly #options: DriverOptions
  readonly #network: SandboxNetwork
  #state: DriverState
  /** The end of the printed text of the step, for an attempt that joins it. */
  #printed = ''
  #timer: NodeJS.Timeout | undefined

  constructor(connection: SandboxConnection, options: DriverOptions) {
    this.#connection = connection
    this.#options = options
    this.#state = initialState(options.isAttached === true)
    const { proxy = { resolve: resolveBySystem } } = options
    this.#network = new SandboxNetwork((message) => this.#write(message), proxy)
    void this.#receiveMessages()
    void connection.ended.then((end) =>
      this.#dispatch(
        end.reason === 'replaced'
          ? { type: 'replaced' }
          : { type: 'ended', cause: lostCause(end), reason: lostReason(end) },
      ),
    )
  }

  get description(): string {
    return this.#connection.description
  }

  /** True once the sandbox is lost or unusable: then a new driver is needed. */
  get isLost(): boolean {
    return this.#state.type === 'lost'
  }

  /** True once the runner sent a message other than `ready`. */
  get madeProgress(): boolean {
    return this.#state.madeProgress
  }

  /**
   * Returns the execution of a step that is pending, or was pending when the sandbox was lost. The next driver
   * continues it.
   */
  executionOf(step: number): Execution | undefined {
    const pending = pendingStepOf(this.#state)
    return pending?.attempt.message.step === step ? pending.execution : undefined
  }

  /**
   * Executes one step, or joins it when it is pending already. `execution` comes from earlier connections.
   *
   * @throws PtcError SANDBOX_FENCED when a newer driver has taken over; errors of `readValue`, after which the runner
   * does not have the step: the same number may be executed again, also with other content
   */
  executeStep(step: Step, options: ExecuteStepOptions, execution?: Execution): Promise<StepResult>
  /** A restore replaces all steps up to its number, in a sandbox that has not executed any. */
  executeStep(step: RunnerStep, options: ExecuteStepOptions, execution?: Execution): Promise<StepResult | RestoreResult>
  async executeStep(
    step: RunnerStep,
    options: ExecuteStepOptions,
    execution: Execution = newExecution,
  ): Promise<StepResult | RestoreResult> {
    const fence: Fence = [this.#options.epoch, step.number, options.attempt]
    const limitSeconds = stepLimitSeconds(step, this.#options.limits)
    const attempt: StepAttempt = {
      ...options,
      fence,
      message: stepMessage(step, fence),
      refs: referencedValues(step),
      limitSeconds,
      timeoutMs: limitSeconds * 1_000 + stopGraceMs,
      sendAbort: new AbortController(),
    }
    this.#network.use(options.network)
    const result = deferred<StepResult | RestoreResult>()
    this.#dispatch({ type: 'execute', attempt, execution, result, nowMs: performance.now() })
    if (this.#state.type === 'lost') return this.#state.result
    const pending = pendingStepOf(this.#state)
    if (pending === null || pending.result === result) this.#printed = ''
    else if (this.#printed !== '') options.onOutput(this.#printed)
    return (pending?.result ?? result).promise
  }

  /** Returns whether the runner has another step with this number, without a result: then it can't accept this one. */
  executesOther(step: RunnerStep): boolean {
    const sent = sentStepOf(this.#state)
    if (sent === null) return false
    const { message, fence } = sent.attempt
    return message.step === step.number && message.digest !== stepMessage(step, fence).digest
  }

  /**
   * Interrupts the code of this step once. Returns false when the step is not pending here. Code that continues runs to
   * its time limit.
   */
  async interrupt(step: number): Promise<boolean> {
    this.#dispatch({ type: 'interrupt', step, confirmation: deferred() })
    const pending = pendingStepOf(this.#state)
    if (this.#state.type === 'lost' || pending?.attempt.message.step !== step) return false
    const { interrupt } = pending.execution
    if (interrupt.type !== 'requested') return false
    await repeatInterrupt(this.#connection, Promise.race([interrupt.confirmation.promise, pending.result.promise]))
    return true
  }

  /**
   * Returns the program's state after its last step, or a part of a file. No step may be pending. Never rejects. A
   * sandbox that does not respond is killed.
   */
  async snapshot(
    step: number,
    attempt: number,
    requested: SnapshotLimits | FilePart,
    signal: AbortSignal,
  ): Promise<Snapshot> {
    if (signal.aborted) return noSnapshot('the snapshot request was cancelled')
    const receiver = new SnapshotReceiver([this.#options.epoch, step, attempt], requested)
    const abort = (): void => this.#dispatch({ type: 'snapshotAborted', receiver })
    return withAbortListener(signal, abort, () => {
      this.#dispatch({ type: 'snapshot', receiver })
      return receiver.result.promise
    })
  }

  /** Closes the connection without ending the sandbox. */
  async detach(): Promise<void> {
    this.#network.close()
    await this.#connection.detach()
  }

  #dispatch(event: DriverEvent): void {
    const { state, effects } = transition(this.#state, event)
    this.#state = state
    if (state.type === 'lost') this.#network.close()
    for (const effect of effects) this.#run(effect)
  }

  #run(effect: Effect): void {
    switch (effect.type) {
      case 'sendHello':
        return void this.#sendHello(effect.fence)
      case 'sendValues':
        return void this.#sendValues(effect.attempt)
      case 'sendStep':
        return void this.#sendStep(effect.attempt)
      case 'abortSending':
        // `abort` creates an error with a stack trace. Only the transfer of values listens.
        if (effect.attempt.refs.length > 0) effect.attempt.sendAbort.abort()
        return
      case 'resolveStep':
        return effect.result.resolve(effect.value)
      case 'rejectStep':
        return effect.result.reject(effect.error)
      case 'emitOutput':
        this.#printed = takeEnd(this.#printed + effect.text, maxPrintedCharacters)
        return effect.attempt.onOutput(effect.text)
      case 'confirmInterrupt':
        return effect.confirmation.resolve()
      case 'requestSnapshot':
        return void this.#requestSnapshot(effect.receiver)
      case 'receiveSnapshot': {
        const { receiver, message } = effect
        const snapshot = receiver.receive(message)
        return this.#dispatch(
          snapshot ? { type: 'snapshotEnded', receiver, snapshot } : { type: 'pieceReceived', receiver },
        )
      }
      case 'resolveSnapshot':
        return effect.receiver.result.resolve(effect.snapshot)
      case 'startTimer':
        clearTimeout(this.#timer)
        this.#timer = setTimeout(() => this.#dispatch({ type: 'timeout' }), effect.milliseconds)
        return
      case 'stopTimer':
        return clearTimeout(this.#timer)
      case 'interruptAtLimit':
        return void this.#interruptAtLimit(effect.operation)
      case 'kill':
        return void this.#connection.kill().catch(() => undefined)
    }
  }

  async #sendHello(fence: Fence): Promise<void> {
    this.#network.start(fence)
    try {
      if (await this.#write(helloMessage(this.#options, fence))) this.#dispatch({ type: 'helloSent' })
    } catch (error) {
      this.#dispatch({ type: 'helloFailed', error })
    }
  }

  async #sendValues(attempt: StepAttempt): Promise<void> {
    const { fence, readValue, refs, sendAbort } = attempt
    let bytes = 0
    const send = async (piece: ValuePiece): Promise<void> => {
      bytes += piece.text.length
      this.#dispatch({ type: 'pieceStarted', attempt })
      if (await this.#write(piece)) this.#dispatch({ type: 'pieceSent', attempt })
    }
    const { frameBytes = hostFrameBytes } = this.#options
    try {
      await transferValues(refs, { fence, readValue, send, frameBytes, signal: sendAbort.signal })
      this.#dispatch({ type: 'valuesSent', attempt, bytes, nowMs: performance.now() })
    } catch (error) {
      this.#dispatch({ type: 'sendFailed', attempt, error })
    }
  }

  async #sendStep(attempt: StepAttempt): Promise<void> {
    try {
      if (await this.#write(attempt.message)) this.#dispatch({ type: 'stepSent', attempt })
    } catch (error) {
      this.#dispatch({ type: 'sendFailed', attempt, error })
    }
  }

  async #requestSnapshot({ request }: SnapshotReceiver): Promise<void> {
    await this.#write(request)
  }

  /**
   * Returns false when the connection failed. The state machine then has the event.
   *
   * @throws PtcError LIMIT_EXCEEDED when the frame is over the limit; VALUE_CORRUPT for a value with a zero byte
   */
  async #write(message: HostMessage): Promise<boolean> {
    const parts = encodeMessage(message, this.#options.frameBytes)
    try {
      // All in this turn of the event loop, so that no other frame comes between them.
      await Promise.all(parts.map((part) => this.#connection.send(part)))
      return true
    } catch (thrown) {
      const delay = new Promise((resolve) => setTimeout(resolve, writeFailureDelayMs).unref())
      await Promise.race([this.#connection.ended, delay])
      this.#dispatch({ type: 'writeFailed', reason: messageOf(thrown) })
      return false
    }
  }

  async #interruptAtLimit(operation: OperationKey): Promise<void> {
    try {
      const isInterrupted = await this.#connection.interrupt()
      this.#dispatch({ type: 'stopRequested', operation, isInterrupted })
    } catch (thrown) {
      this.#dispatch({ type: 'stopFailed', operation, reason: messageOf(thrown) })
    }
  }

  async #receiveMessages(): Promise<void> {
    const { limits, resume } = this.#options
    try {
      const readOptions = { resume, isExpectingMessage: () => isExpectingMessage(this.#state) || this.#network.isOpen }
      for await (const message of readMessages(this.#connection.received, runnerFrameLimits(limits), readOptions)) {
        this.#onMessage(message)
      }
    } catch (thrown) {
      this.#dispatch({ type: 'violation', reason: messageOf(thrown) })
    }
  }

  #onMessage(message: RunnerMessage | RunnerNetworkMessage): void {
    if (message.type === 'network') return this.#network.receive(message)
    const isReady = message.type === 'ready'
    if (isReady && (message.protocol !== protocolVersion || message.session !== this.#options.session)) {
      const reason = 'the sandbox responded for another session or in another protocol version'
      this.#dispatch({ type: 'violation', reason })
    } else this.#dispatch({ type: 'message', message })
  }
}

/** An interrupt is lost when no code runs yet, or in the middle of a frame, so it is repeated at this interval. */
const interruptRetries = { times: 5, everyMs: 1_000 } as const

/** Interrupts the code until `settled` settles, at most five times. Never rejects. */
async function repeatInterrupt(connection: SandboxConnection, settled: Promise<unknown>): Promise<void> {
  const isSettled = settled.then(
    () => true,
    () => true,
  )
  const pause = () =>
    new Promise<false>((resolve) => setTimeout(() => resolve(false), interruptRetries.everyMs).unref())
  for (let retry = 0; retry < interruptRetries.times; retry += 1) {
    await connection.interrupt().catch(() => false)
    if (await Promise.race([isSettled, pause()])) return
  }
}
