import { type Context, CompleteAsyncError } from '@temporalio/activity'
import { ActivityCancelledError, ActivityNotFoundError, AsyncCompletionClient } from '@temporalio/client'
import {
  type ActivitySerializationContext,
  CancelledFailure,
  type DataConverter,
  type Payload,
} from '@temporalio/common'
import type { NativeConnection } from '@temporalio/worker'
import type { ActivityChannel } from '../../activities/activity-channel.js'
import { readStoredResult, storedResultKey } from '../../common/calls/stored-result.js'
import { defined } from '../../common/defined.js'
import { eventLoopBlockKey } from '../../common/names.js'
import {
  blockedThresholdMs,
  monotonicMs,
  reportThresholdMs,
  type ToWatchdog,
  type WatchedActivity,
  withNote,
} from './protocol.js'

/** The part of the process's watchdog that an activity uses. */
export interface ActivityWatchdog {
  readonly connection: NativeConnection
  readonly dataConverter: DataConverter
  /** Milliseconds since the event loop last ran. */
  blockedForMs(): number
  /** Describes the cause of a block of this length; undefined when the process had no processor instead. */
  describe(milliseconds: number): string | undefined
  /** Handles the pending messages of the watchdog thread. */
  readMessages(): void
  send(message: ToWatchdog): void
  /** Runs code of the tool of an activity. Blocks are attributed to that activity, also after an `await`. */
  runCode<Result>(id: number, code: () => Result): Result
}

/**
 * Reports heartbeats and the outcome of an activity through core, or directly to the server after a long block. Core
 * times an activity out 5 s after its heartbeat timeout and drops its result, because it does not know the heartbeats
 * of the watchdog thread.
 *
 * | state | heartbeats and outcome | next state |
 * |---|---|---|
 * | through core | `Context.heartbeat`, return value | direct, when a block exceeds two thirds of the timeout |
 * | direct | `AsyncCompletionClient` | none |
 */
export class ActivityReporter implements ActivityChannel {
  readonly #context: Context
  readonly #activity: WatchedActivity
  readonly #watchdog: ActivityWatchdog
  readonly #startedAt: number
  readonly #abortController = new AbortController()
  /** The longest block of the event loop during this activity. */
  #longestBlockMs = 0
  /** Description of the block; undefined when it was short. */
  #note: string | undefined
  /** Time at which the server recorded the last direct heartbeat. */
  #lastHeartbeatAt = 0
  #lastDetailsJson: string | undefined
  #lastHeartbeat: Promise<void> | undefined
  /** Core, or the watchdog thread, may send an earlier heartbeat after details that are stored now. */
  #mayOverwrite = false
  /** Number of requests of {@link store} in progress. */
  #storing = 0
  #storeClient: AsyncCompletionClient | undefined
  /** The result that the server has, of this attempt or an earlier one. */
  #storedResult: unknown
  /** With it, the SDK converts the payloads of the activity. */
  readonly serializationContext: ActivitySerializationContext
  /** `Context.heartbeat` of the SDK. */
  readonly #heartbeatThroughCore: Context['heartbeat']

  constructor(context: Context, activity: WatchedActivity, watchdog: ActivityWatchdog, startedAt = monotonicMs()) {
    this.#context = context
    this.#activity = activity
    this.#watchdog = watchdog
    this.#startedAt = startedAt
    this.#lastDetailsJson = activity.details
    this.#storedResult = readStoredResult(context.info.heartbeatDetails)
    const { namespace, activityId, isLocal, workflowExecution } = context.info
    const { workflowId } = workflowExecution ?? {}
    this.serializationContext = { type: 'activity', namespace, activityId, isLocal, ...defined({ workflowId }) }
    this.#heartbeatThroughCore = context.heartbeat
    Object.assign(context, { heartbeat: this.#heartbeatOfUser })
    context.cancellationSignal.addEventListener('abort', () => this.#handleCoreCancellation(), { once: true })
  }

  get signal(): AbortSignal {
    return this.#abortController.signal
  }

  readonly runMonitored = <Result>(part: () => Result): Result => this.#watchdog.runCode(this.#activity.id, part)

  readonly heartbeat = (details: unknown): void => {
    if (this.#storing > 0) return // the request is a heartbeat with later details
    this.#updateDetails(details)
    const bypassesCore = this.#bypassesCore()
    const noted = withNote(details, this.#note)
    this.#mayOverwrite = true
    if (bypassesCore) this.#lastHeartbeat = this.#heartbeatDirectly(noted)
    else this.#heartbeatThroughCore(noted)
  }

  /** A heartbeat of an interceptor, or of a tool through the SDK. It must not replace a stored result. */
  readonly #heartbeatOfUser = (details?: unknown): void => {
    if (this.#storing > 0) return
    this.#mayOverwrite = true
    const kept = this.#storedResult !== undefined && { [storedResultKey]: this.#storedResult }
    this.#heartbeatThroughCore(kept ? { ...(typeof details === 'object' && details), ...kept } : details)
  }

  readonly store = async (details: unknown): Promise<boolean> => {
    if (this.#bypassesCore() || this.#mayOverwrite || this.signal.aborted) return false
    const { connection, dataConverter } = this.#watchdog
    const { namespace, taskToken } = this.#context.info
    this.#storeClient ??= new AsyncCompletionClient({ connection, namespace, dataConverter })
    this.#updateDetails(details)
    this.#storing += 1
    try {
      await this.#storeClient.heartbeat(taskToken, details, this.#conversion)
      this.recordHeartbeat(monotonicMs())
      // In a block meanwhile, the thread may have sent earlier details, which may arrive later.
      if (this.#bypassesCore() || this.#mayOverwrite) return false
      this.#storedResult = readStoredResult(details)
      return true
    } catch {
      this.#mayOverwrite = true // nothing is stored from now on
      return false
    } finally {
      this.#storing -= 1
    }
  }

  /** Records a block of the event loop. */
  recordBlock(milliseconds: number): void {
    if (milliseconds >= blockedThresholdMs) this.#mayOverwrite = true
    const own = Math.min(milliseconds, monotonicMs() - this.#startedAt)
    if (own <= this.#longestBlockMs) return
    this.#longestBlockMs = own
    if (own >= reportThresholdMs) this.#note = this.#watchdog.describe(own)
  }

  /** Records a heartbeat that the server accepted. */
  recordHeartbeat(at: number): void {
    this.#lastHeartbeatAt = Math.max(this.#lastHeartbeatAt, at)
  }

  /** Passes on the server's request to stop the activity. In state "through core", core cancels the activity itself. */
  requestStop(reason: string): void {
    if (this.#bypassesCore()) this.#abortController.abort(new CancelledFailure(reason))
  }

  /**
   * Runs the activity and reports its outcome.
   *
   * @throws CompleteAsyncError when the outcome was reported directly; else the error of `work`
   */
  async complete(work: () => Promise<unknown>): Promise<unknown> {
    const { cancellationSignal, info } = this.#context
    try {
      const result = await work()
      if (!this.#bypassesCore()) return result
      await this.#reportOutcome((client) => client.complete(info.taskToken, result, this.#conversion))
    } catch (thrown) {
      const isCancelledByCore = cancellationSignal.aborted && !this.#isTimedOutByCore()
      if (!this.#bypassesCore() || isCancelledByCore) throw thrown
      await this.#lastHeartbeat
      const isCancelled = thrown instanceof CancelledFailure
      await this.#reportOutcome((client) =>
        isCancelled ? client.reportCancellation(info.taskToken) : client.fail(info.taskToken, thrown, this.#conversion),
      )
    }
    throw new CompleteAsyncError()
  }

  /**
   * Whether the state is "direct": core may have timed the activity out, which takes at least two thirds of the
   * heartbeat timeout.
   */
  #bypassesCore(): boolean {
    const { heartbeatTimeoutMs } = this.#activity
    this.recordBlock(this.#watchdog.blockedForMs())
    return heartbeatTimeoutMs > 0 && this.#longestBlockMs >= Math.max((heartbeatTimeoutMs * 2) / 3, reportThresholdMs)
  }

  #isTimedOutByCore(): boolean {
    return this.#context.cancellationDetails?.timedOut === true
  }

  #handleCoreCancellation(): void {
    this.#watchdog.readMessages()
    const hasLiveHeartbeat =
      this.#bypassesCore() && monotonicMs() - this.#lastHeartbeatAt < this.#activity.heartbeatTimeoutMs
    if (!this.#isTimedOutByCore() || !hasLiveHeartbeat)
      this.#abortController.abort(this.#context.cancellationSignal.reason)
  }

  /** Passes the details to the watchdog thread. The SDK fails the activity when the details are not JSON. */
  #updateDetails(details: unknown): void {
    try {
      const json = JSON.stringify(details)
      if (json !== this.#lastDetailsJson) this.#watchdog.send({ type: 'details', id: this.#activity.id, details: json })
      this.#lastDetailsJson = json
    } catch {
      // The thread keeps the previous details.
    }
  }

  async #heartbeatDirectly(details: unknown): Promise<void> {
    try {
      await this.#withCompletionClient((client) =>
        client.heartbeat(this.#context.info.taskToken, details, this.#conversion),
      )
      this.recordHeartbeat(monotonicMs())
    } catch (thrown) {
      if (thrown instanceof ActivityCancelledError) this.requestStop('CANCELLED')
      if (thrown instanceof ActivityNotFoundError) this.requestStop('NOT_FOUND')
    }
  }

  /** Logs a failed report. Then the activity times out on the server, as after the loss of its worker. */
  async #reportOutcome(request: (client: AsyncCompletionClient) => Promise<void>): Promise<void> {
    try {
      await this.#withCompletionClient(request)
    } catch (thrown) {
      if (thrown instanceof ActivityNotFoundError) return
      this.#context.log.warn('the outcome could not be sent', { error: thrown })
    }
  }

  #withCompletionClient(request: (client: AsyncCompletionClient) => Promise<void>): Promise<void> {
    const { connection, dataConverter } = this.#watchdog
    const { namespace } = this.#context.info
    const addNote = {
      encode: (payloads: Payload[]) => Promise.resolve(payloads.map((each) => this.#withNote(each))),
      decode: (payloads: Payload[]) => Promise.resolve(payloads),
    }
    const client = new AsyncCompletionClient({
      connection,
      namespace,
      // The codec of the note is last: the note is in the metadata of the payload that the server gets.
      dataConverter: { ...dataConverter, payloadCodecs: [...(dataConverter.payloadCodecs ?? []), addNote] },
    })
    // The SDK aborts the requests of an activity that core has timed out.
    return connection.withAbortSignal(new AbortController().signal, () => request(client))
  }

  get #conversion() {
    return { serializationContext: this.serializationContext }
  }

  /** Adds the note to the metadata of a result. */
  #withNote(payload: Payload): Payload {
    if (this.#note === undefined) return payload
    return { ...payload, metadata: { ...payload.metadata, [eventLoopBlockKey]: new TextEncoder().encode(this.#note) } }
  }
}
