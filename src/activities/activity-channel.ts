import { asyncLocalStorage, type Context } from '@temporalio/activity'
import { waitNoteKey } from '../common/names.js'

/**
 * Cancellation signal and heartbeats of an activity. The worker's event-loop watchdog replaces those of the SDK, so
 * that they work while a tool blocks the event loop.
 */
export interface ActivityChannel {
  /** Aborted when the activity is cancelled, or its worker shuts down. */
  readonly signal: AbortSignal
  readonly heartbeat: (details: unknown) => void
  /** Runs synchronous tool code under the event-loop watchdog. */
  readonly runMonitored: <Result>(work: () => Result) => Result
}

const channels = new WeakMap<Context, ActivityChannel>()

/** Replaces the channel of an activity. Call it before the activity's work starts. */
export function setActivityChannel(context: Context, channel: ActivityChannel): void {
  channels.set(context, channel)
}

/** The activity's channel; by default that of the SDK. */
export function activityChannelOf(context: Context): ActivityChannel {
  const { cancellationSignal: signal } = context
  return (
    channels.get(context) ?? {
      signal,
      heartbeat: (details) => context.heartbeat(details),
      runMonitored: (work) => work(),
    }
  )
}

const waitNotes = new WeakMap<Context, string>()

/**
 * Tells in the heartbeats of the current activity why it tries something again: while it does, it has no failed attempt
 * that people could see. Outside of an activity, nothing happens.
 *
 * @param reason undefined: it waits no longer
 */
export function noteWait(reason: string | undefined): void {
  const context = asyncLocalStorage.getStore()
  if (context === undefined) return
  if (reason === undefined) waitNotes.delete(context)
  else waitNotes.set(context, reason)
}

/** Heartbeat details with the note of {@link noteWait}; details that are no object stay as they are. */
export function withWaitNote(context: Context, details: unknown): unknown {
  const reason = waitNotes.get(context)
  if (typeof details !== 'object' || details === null || Array.isArray(details)) return details
  const { [waitNoteKey]: _earlier, ...own } = details as Readonly<Record<string, unknown>>
  return reason === undefined ? own : { ...own, [waitNoteKey]: reason }
}
