import { Context } from '@temporalio/activity'
import { toFailure } from './failures.js'

/** What an activity's work gets of its surroundings. */
export interface ActivityScope {
  readonly signal: AbortSignal
  readonly attempt: number
  readonly workflowId: string
  readonly runId: string
  /** Shown in the Temporal UI while the activity runs; sent with the next heartbeat. */
  readonly report: (details: unknown) => void
}

/**
 * Runs an activity's work: heartbeats all the while (so that a dead worker is noticed and a cancellation arrives), and turns
 * what it throws into a failure.
 */
export async function inActivity<Result>(
  work: (scope: ActivityScope) => Promise<Result>,
  isLastAttempt: (attempt: number) => boolean = () => false,
): Promise<Result> {
  const context = Context.current()
  const { attempt, workflowExecution, heartbeatTimeoutMs } = context.info
  let details: unknown
  const beat = heartbeatTimeoutMs ? setInterval(() => context.heartbeat(details), heartbeatTimeoutMs / 3) : undefined
  try {
    return await work({
      signal: context.cancellationSignal,
      attempt,
      workflowId: workflowExecution?.workflowId ?? '',
      runId: workflowExecution?.runId ?? '',
      report: (latest) => {
        details = latest
      },
    })
  } catch (thrown) {
    throw toFailure(thrown, isLastAttempt(attempt))
  } finally {
    clearInterval(beat)
  }
}
