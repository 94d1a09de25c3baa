import { asyncLocalStorage, type Context } from '@temporalio/activity'
import { waitNoteKey } from '../common/names.js'

/**
 * Cancellation signal and heartbeats of an activity. The worker's event-loop watchdog replaces the SDK's signal and
 * heartbeats, so that they work while a tool blocks the event loop.
 */
export interface ActivityChannel {
  /** Aborted when the activity is cancelled, or its worker shuts down. */
  readonly signal: AbortSignal
  readonly heartbeat: (details: unknown) => void
  /**
   * Stores heartbeat details on the server: the next attempt gets them, whenever this one is lost. Returns false when
   * the server may not have them, and from then on. That is so after the first {@link heartbeat}, which the SDK may send
   * later than details that are stored meanwhile, after a block of the event loop, in which the watchdog thread sends
   * heartbeats, and for an attempt that is cancelled or lost.
   */
  readonly store: (details: unknown) => Promise<boolean>
  /** Runs synchronous tool code under the event-loop watchdog. */
  readonly runMonitored: <Result>(work: () => Result) => Result
}

const channels = new WeakMap<Context, ActivityChannel>()

/** Replaces the channel of an activity. Call it before the activity's work starts. */
export function setActivityChannel(context: Context, channel: ActivityChannel): void {
  channels.set(context, channel)
}

/** Returns the activity's channel; by default the channel of the SDK. */
export function activityChannelOf(context: Context): ActivityChannel {
  const { cancellationSignal: signal } = context
  return (
    channels.get(context) ?? {
      signal,
      heartbeat: (details) => context.heartbeat(details),
      store: () => Promise.resolve(false),
      runMonitored: (work) => work(),
    }
  )
}

const waitNotes = new WeakMap<Context, string>()

/**
 * Adds to the heartbeats of the current activity the reason why it repeats an operation. The Temporal UI shows no
 * failed attempt for such a repetition. Does nothing outside of an activity.
 *
 * @param reason undefined: the activity no longer waits
 */
export function noteWait(reason: string | undefined): void {
  const context = asyncLocalStorage.getStore()
  if (context === undefined) return
  if (reason === undefined) waitNotes.delete(context)
  else waitNotes.set(context, reason)
}

/**
 * Returns heartbeat details with the note of {@link noteWait}. Details that are not an object are returned unchanged.
 */
export function withWaitNote(context: Context, details: unknown): unknown {
  const reason = waitNotes.get(context)
  if (typeof details !== 'object' || details === null || Array.isArray(details)) return details
  const { [waitNoteKey]: _earlier, ...own } = details as Readonly<Record<string, unknown>>
  return reason === undefined ? own : { ...own, [waitNoteKey]: reason }
}
