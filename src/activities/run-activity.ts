import { Context } from '@temporalio/activity'
import { rejectOnUncaught } from '../common/async/uncaught-errors.js'
import { readStoredResult, storedResultKey } from '../common/calls/stored-result.js'
import { PtcError } from '../common/errors.js'
import { describeThrown } from '../tools/calls/thrown.js'
import type { ToolRegistry } from '../tools/registry.js'
import type { Values } from '../values/values.js'
import { toFailure } from './failures.js'
import { type ActivityChannel, activityChannelOf, withWaitNote } from './activity-channel.js'

/** The parts of a worker that most activities use. */
export interface ActivityParts {
  readonly registry: ToolRegistry
  readonly values: Values
}

/** The context of an activity's work. */
export interface ActivityScope {
  readonly signal: AbortSignal
  readonly attempt: number
  readonly workflowId: string
  readonly runId: string
  /** The last details that an earlier attempt reported. */
  readonly previousDetails: unknown
  /**
   * Sets the details of the next heartbeat. The Temporal UI shows them while the activity runs, and the next attempt
   * gets them.
   */
  readonly report: (details: unknown) => void
  /** The result of an earlier attempt that was lost: {@link storeResult} has stored it. Undefined: there is none. */
  readonly storedResult: unknown
  /**
   * Stores what the next attempt returns if this one is lost. Returns false when the server may not have it: see
   * {@link ActivityChannel.store}.
   */
  readonly storeResult: (result: unknown) => Promise<boolean>
  /** Milliseconds since the activity was scheduled, with earlier attempts, and without its time in the task queue. */
  readonly elapsedMs: () => number
  /** Milliseconds until the start-to-close timeout of the attempt, without {@link resultMarginMs}. */
  readonly remainingMs: () => number
  /** See {@link ActivityChannel.runMonitored}. */
  readonly runMonitored: ActivityChannel['runMonitored']
}

/** Milliseconds that an attempt needs to report its result. */
const resultMarginMs = 5_000

/**
 * Runs an activity's work. Heartbeats while the work lasts, so that the server notices a dead worker and the activity
 * gets its cancellation, and converts errors to failures.
 *
 * @param isLastAttempt true when a failure of this attempt must be non-retryable
 * @param describeAttempt heartbeat details until the first report, for the Temporal UI
 */
export async function runActivity<Result>(
  work: (scope: ActivityScope) => Promise<Result>,
  isLastAttempt: (attempt: number, earlierDetails: unknown) => boolean = () => false,
  describeAttempt: (attempt: number, earlierDetails: unknown) => unknown = (attempt, earlier) => earlier ?? { attempt },
): Promise<Result> {
  const context = Context.current()
  const channel = activityChannelOf(context)
  const { attempt, workflowExecution, heartbeatTimeoutMs, heartbeatDetails } = context.info
  const { scheduledTimestampMs, currentAttemptScheduledTimestampMs, startToCloseTimeoutMs } = context.info
  // This part is measured by the server's clock, and the rest by the clock of this process, so that a difference
  // between the clocks does not count.
  const earlierAttemptsMs = currentAttemptScheduledTimestampMs - scheduledTimestampMs
  const begunAt = performance.now()
  // A heartbeat without details would clear those of earlier attempts.
  let details = describeAttempt(attempt, heartbeatDetails)
  let sent = details
  let hasEnded = false
  const storedResult = readStoredResult(heartbeatDetails)
  let result = storedResult
  const withResult = (latest: unknown) =>
    withWaitNote(context, latest === undefined ? details : { ...Object(details), [storedResultKey]: latest })
  const sendHeartbeat = (): void => {
    sent = details
    channel.heartbeat(withResult(result))
  }
  const timer = heartbeatTimeoutMs ? setInterval(sendHeartbeat, heartbeatTimeoutMs / 3) : undefined
  try {
    const scope: ActivityScope = {
      signal: channel.signal,
      attempt,
      workflowId: workflowExecution?.workflowId ?? '',
      runId: workflowExecution?.runId ?? '',
      previousDetails: heartbeatDetails,
      report: (latest) => {
        details = latest
      },
      storedResult,
      storeResult: async (latest) => {
        const isStored = await channel.store(withResult(latest))
        if (isStored) result = latest
        else if (!hasEnded) sendHeartbeat() // core learns by the response whether the attempt is cancelled
        return isStored
      },
      remainingMs: () => startToCloseTimeoutMs - resultMarginMs - (performance.now() - begunAt),
      elapsedMs: () => earlierAttemptsMs + performance.now() - begunAt,
      runMonitored: channel.runMonitored,
    }
    const { activityType } = context.info
    return await rejectOnUncaught(
      { name: `activity ${activityType}`, isEngine: true },
      () => work(scope),
      (thrown) => new PtcError('UNCAUGHT_ERROR', `an error that nothing caught: ${describeThrown(thrown)}`),
    )
  } catch (thrown) {
    // Calls have been made: another attempt would return the same, and a failure would lose them.
    if (result !== undefined) return result as Result
    if (details !== sent) sendHeartbeat()
    throw toFailure(thrown, isLastAttempt(attempt, heartbeatDetails))
  } finally {
    hasEnded = true
    clearInterval(timer)
  }
}
