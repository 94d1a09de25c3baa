import { ApplicationFailure, Context } from '@temporalio/activity'
import { PtcError } from '../../common/errors.js'
import { formatDuration } from '../../common/text/duration.js'
import { type AttemptReport, readAttemptReport } from './attempt-report.js'
import { runActivity } from '../run-activity.js'

/** Time limit of a call while no worker has the tool. */
const giveUpAfterMs = 10 * 60_000

const retryDelay = { shortestMs: 1_000, longestMs: 10_000 } as const

/**
 * Fails an attempt on a worker without a tool of this name, as during a rolling deployment. The failure has a retry
 * delay, so that another worker gets the call, and is not counted as an attempt of the tool. It is non-retryable after
 * 10 minutes.
 */
export function failUnregisteredTool(tool: string): Promise<never> {
  const { attempt, heartbeatDetails, currentAttemptScheduledTimestampMs: now } = Context.current().info
  const { details, unregisteredAttempts = 0, unregisteredSince = now } = readAttemptReport(heartbeatDetails)
  const waitedMs = now - unregisteredSince
  const isGivenUp = waitedMs >= giveUpAfterMs
  return runActivity(
    ({ report }) => {
      report({ details, unregisteredAttempts: unregisteredAttempts + 1, unregisteredSince } satisfies AttemptReport)
      const error = isGivenUp
        ? new PtcError('TOOL_NOT_REGISTERED', `no worker had a tool named ${tool} for ${formatDuration(giveUpAfterMs)}`)
        : new PtcError('TOOL_NOT_REGISTERED', `no worker that took the call so far has a tool named ${tool}`, {
            hint: `Attempt ${attempt} found no such tool; start a worker that has it.`,
            retryAfterMs: Math.min(Math.max(Math.round(waitedMs / 10), retryDelay.shortestMs), retryDelay.longestMs),
          })
      // The stack is always the same; without it, the log has one line per attempt.
      error.stack = ''
      return Promise.reject(error)
    },
    () => isGivenUp,
  )
}

/** Returns the SDK's failure for an activity that is neither a tool nor registered by the user of the worker. */
export function unknownActivity(activityType: string): ApplicationFailure {
  const message = `Activity function ${activityType} is not registered on this Worker`
  return ApplicationFailure.retryable(message, 'NotFoundError')
}
