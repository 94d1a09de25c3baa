import { Context } from '@temporalio/activity'
import { toFailure } from './failures.js'
import { type Keeper, keeperOf } from './keeper.js'

/** What an activity's work gets of its surroundings. */
export interface ActivityScope {
  readonly signal: AbortSignal
  readonly attempt: number
  readonly workflowId: string
  readonly runId: string
  /** What an earlier attempt reported last. */
  readonly earlierDetails: unknown
  /** Shown in the Temporal UI while the activity runs, and kept for the next attempt; sent with the next heartbeat. */
  readonly report: (details: unknown) => void
  /** {@link Keeper.run} */
  readonly runPart: Keeper['run']
}

/**
 * Runs an activity's work: heartbeats all the while (so that a dead worker is noticed and a cancellation arrives), and turns
 * what it throws into a failure.
 */
export async function inActivity<Result>(
  work: (scope: ActivityScope) => Promise<Result>,
  isLastAttempt: (attempt: number, earlierDetails: unknown) => boolean = () => false,
): Promise<Result> {
  const context = Context.current()
  const keeper = keeperOf(context)
  const { attempt, workflowExecution, heartbeatTimeoutMs, heartbeatDetails } = context.info
  // A heartbeat without details would erase those of earlier attempts.
  let details: unknown = heartbeatDetails
  let sent = details
  const beat = (): void => {
    sent = details
    keeper.heartbeat(details)
  }
  const timer = heartbeatTimeoutMs ? setInterval(beat, heartbeatTimeoutMs / 3) : undefined
  try {
    return await work({
      signal: keeper.signal,
      attempt,
      workflowId: workflowExecution?.workflowId ?? '',
      runId: workflowExecution?.runId ?? '',
      earlierDetails: heartbeatDetails,
      report: (latest) => {
        details = latest
      },
      runPart: keeper.run,
    })
  } catch (thrown) {
    if (details !== sent) beat()
    throw toFailure(thrown, isLastAttempt(attempt, heartbeatDetails))
  } finally {
    clearInterval(timer)
  }
}
