import { Context } from '@temporalio/activity'
import { toFailure } from './failures.js'

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
  const { attempt, workflowExecution, heartbeatTimeoutMs, heartbeatDetails } = context.info
  // A heartbeat without details would erase those of earlier attempts.
  let details: unknown = heartbeatDetails
  let sent = details
  const beat = (): void => {
    sent = details
    context.heartbeat(details)
  }
  const timer = heartbeatTimeoutMs ? setInterval(beat, heartbeatTimeoutMs / 3) : undefined
  try {
    return await work({
      signal: context.cancellationSignal,
      attempt,
      workflowId: workflowExecution?.workflowId ?? '',
      runId: workflowExecution?.runId ?? '',
      earlierDetails: heartbeatDetails,
      report: (latest) => {
        details = latest
      },
    })
  } catch (thrown) {
    if (details !== sent) beat()
    throw toFailure(thrown, isLastAttempt(attempt, heartbeatDetails))
  } finally {
    clearInterval(timer)
  }
}
