import type { Context } from '@temporalio/activity'

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
