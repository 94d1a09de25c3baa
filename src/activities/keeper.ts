import type { Context } from '@temporalio/activity'

/** How an activity's work hears from the server and the server from it. */
export interface Keeper {
  /** Aborted when the activity is to stop. */
  readonly signal: AbortSignal
  readonly heartbeat: (details: unknown) => void
  /** Runs a part of a tool that could block the event loop, known as that. */
  readonly run: <Result>(part: () => Result) => Result
}

const keepers = new WeakMap<Context, Keeper>()

/** Lets an activity be kept alive by something else than the SDK alone. To be called before its work begins. */
export function keepBy(context: Context, keeper: Keeper): void {
  keepers.set(context, keeper)
}

export function keeperOf(context: Context): Keeper {
  const { cancellationSignal: signal } = context
  return keepers.get(context) ?? { signal, heartbeat: (details) => context.heartbeat(details), run: (part) => part() }
}
