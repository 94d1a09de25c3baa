import { type Context, CompleteAsyncError } from '@temporalio/activity'
import { ActivityCancelledError, ActivityNotFoundError, AsyncCompletionClient } from '@temporalio/client'
import { CancelledFailure, type DataConverter, type Payload } from '@temporalio/common'
import type { NativeConnection } from '@temporalio/worker'
import type { Keeper } from '../../activities/keeper.js'
import { blockedNote } from '../../common/names.js'
import { monotonicMs, namedMs, type ToThread, type WatchedActivity, withNote } from './protocol.js'

/** What an activity needs of the watch of its process. */
export interface Watch {
  readonly connection: NativeConnection
  readonly dataConverter: DataConverter
  /** For how long the event loop has not run by now, in milliseconds. */
  silentMs(): number
  /** Says what blocked the event loop for so long; undefined when nothing did: process or machine had no time. */
  describe(milliseconds: number): string | undefined
  /** Handles what the watch thread has sent so far. */
  readMessages(): void
  tell(message: ToThread): void
  /** Notes whose tool is being called; 0: none. */
  setHandler(id: number): void
}

/**
 * An activity that survives a blocked event loop. Temporal's core library gives an activity up by itself 5 s behind its
 * heartbeat timeout, does not hear of the heartbeats of the watch thread, and drops the result. So an activity that
 * has been through a long block no longer goes through core: its heartbeats and outcome go directly to the server.
 */
export class KeptActivity implements Keeper {
  readonly #context: Context
  readonly #watched: WatchedActivity
  readonly #watch: Watch
  readonly #begunAt: number
  readonly #stop = new AbortController()
  /** The longest time that the event loop has not run for during this activity. */
  #silentMs = 0
  /** What is said of that; undefined when it was short, or nothing blocked it. */
  #note: string | undefined
  /** When the server took the last heartbeat that did not go through core. */
  #sentAt = 0
  #sentJson: string | undefined
  #lastHeartbeat: Promise<void> | undefined

  constructor(context: Context, watched: WatchedActivity, watch: Watch, begunAt = monotonicMs()) {
    this.#context = context
    this.#watched = watched
    this.#watch = watch
    this.#begunAt = begunAt
    this.#sentJson = watched.details
    context.cancellationSignal.addEventListener('abort', () => this.#onCoreCancel(), { once: true })
  }

  get signal(): AbortSignal {
    return this.#stop.signal
  }

  readonly run = <Result>(part: () => Result): Result => {
    this.#watch.setHandler(this.#watched.id)
    try {
      return part()
    } finally {
      this.#watch.setHandler(0)
    }
  }

  readonly heartbeat = (details: unknown): void => {
    this.#remember(details)
    const isOnItsOwn = this.#isOnItsOwn()
    const noted = withNote(details, this.#note)
    if (isOnItsOwn) this.#lastHeartbeat = this.#heartbeatDirectly(noted)
    else this.#context.heartbeat(noted)
  }

  /** The event loop has not run for so long. */
  wasBlocked(milliseconds: number): void {
    const own = Math.min(milliseconds, monotonicMs() - this.#begunAt)
    if (own <= this.#silentMs) return
    this.#silentMs = own
    if (own >= namedMs) this.#note = this.#watch.describe(own)
  }

  /** A heartbeat of the watch thread got through. */
  wasSent(at: number): void {
    this.#sentAt = Math.max(this.#sentAt, at)
  }

  /** The server wants the activity to stop. Core tells others than these. */
  stopFor(reason: string): void {
    if (this.#isOnItsOwn()) this.#stop.abort(new CancelledFailure(reason))
  }

  /**
   * Runs the activity and sees to it that its outcome arrives.
   *
   * @throws CompleteAsyncError when the outcome has been sent directly; else what the work throws
   */
  async complete(work: () => Promise<unknown>): Promise<unknown> {
    const { cancellationSignal, info } = this.#context
    try {
      const result = await work()
      if (!this.#isOnItsOwn()) return result
      await this.#send((client) => client.complete(info.taskToken, result))
    } catch (thrown) {
      const isCancelledByCore = cancellationSignal.aborted && !this.#isGivenUpByCore()
      if (!this.#isOnItsOwn() || isCancelledByCore) throw thrown
      await this.#lastHeartbeat
      const isCancelled = thrown instanceof CancelledFailure
      await this.#send((client) =>
        isCancelled ? client.reportCancellation(info.taskToken) : client.fail(info.taskToken, thrown),
      )
    }
    throw new CompleteAsyncError()
  }

  /** Has core perhaps given the activity up? It can't before two thirds of the heartbeat timeout and 5 s are over. */
  #isOnItsOwn(): boolean {
    const { heartbeatTimeoutMs } = this.#watched
    this.wasBlocked(this.#watch.silentMs())
    return heartbeatTimeoutMs > 0 && this.#silentMs >= Math.max((heartbeatTimeoutMs * 2) / 3, namedMs)
  }

  #isGivenUpByCore(): boolean {
    return this.#context.cancellationDetails?.timedOut === true
  }

  #onCoreCancel(): void {
    this.#watch.readMessages()
    const isKept = this.#isOnItsOwn() && monotonicMs() - this.#sentAt < this.#watched.heartbeatTimeoutMs
    if (!this.#isGivenUpByCore() || !isKept) this.#stop.abort(this.#context.cancellationSignal.reason)
  }

  /** The watch thread sends these from now on. What is no JSON makes the SDK fail the activity. */
  #remember(details: unknown): void {
    try {
      const json = JSON.stringify(details)
      if (json !== this.#sentJson) this.#watch.tell({ type: 'details', id: this.#watched.id, details: json })
      this.#sentJson = json
    } catch {
      // Those before are kept.
    }
  }

  async #heartbeatDirectly(details: unknown): Promise<void> {
    try {
      await this.#direct((client) => client.heartbeat(this.#context.info.taskToken, details))
      this.wasSent(monotonicMs())
    } catch (thrown) {
      if (thrown instanceof ActivityCancelledError) this.stopFor('CANCELLED')
      if (thrown instanceof ActivityNotFoundError) this.stopFor('NOT_FOUND')
    }
  }

  /** What can't be sent is like a lost worker: the server notices by the missing heartbeats. */
  async #send(request: (client: AsyncCompletionClient) => Promise<void>): Promise<void> {
    try {
      await this.#direct(request)
    } catch (thrown) {
      if (thrown instanceof ActivityNotFoundError) return
      this.#context.log.warn('the outcome could not be sent', { error: thrown })
    }
  }

  #direct(request: (client: AsyncCompletionClient) => Promise<void>): Promise<void> {
    const { connection, dataConverter } = this.#watch
    const { namespace } = this.#context.info
    const addNote = {
      encode: (payloads: Payload[]) => Promise.resolve(payloads.map((each) => this.#withNote(each))),
      decode: (payloads: Payload[]) => Promise.resolve(payloads),
    }
    const client = new AsyncCompletionClient({
      connection,
      namespace,
      dataConverter: { ...dataConverter, payloadCodecs: [addNote] },
    })
    // The SDK ends requests of an activity that core has given up.
    return connection.withAbortSignal(new AbortController().signal, () => request(client))
  }

  /** Recorded with a result. */
  #withNote(payload: Payload): Payload {
    if (this.#note === undefined) return payload
    return { ...payload, metadata: { ...payload.metadata, [blockedNote]: new TextEncoder().encode(this.#note) } }
  }
}
