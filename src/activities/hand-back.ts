import { Context } from '@temporalio/activity'
import { PtcError } from '../common/errors.js'
import { formatDuration } from '../tools/duration.js'
import { type AttemptReport, readReport } from './earlier-attempts.js'
import { inActivity } from './in-activity.js'

/** A call whose tool no worker has is given up after so long. */
const patienceMs = 10 * 60_000

const delay = { shortestMs: 1_000, longestMs: 10_000 } as const

/**
 * An attempt of a call on a worker that has no tool of this name, as during a rolling deployment. It runs nothing, does not
 * count as one of the tool's attempts, and lets another worker take the call.
 */
export function handBack(tool: string): Promise<never> {
  const { attempt, heartbeatDetails, currentAttemptScheduledTimestampMs: now } = Context.current().info
  const { details, handedBack = 0, waitingSince = now } = readReport(heartbeatDetails)
  const waitedMs = now - waitingSince
  const isGivenUp = waitedMs >= patienceMs
  return inActivity(
    ({ report }) => {
      report({ details, handedBack: handedBack + 1, waitingSince } satisfies AttemptReport)
      const error = isGivenUp
        ? new PtcError('TOOL_NOT_REGISTERED', `no worker had a tool named ${tool} for ${formatDuration(patienceMs)}`)
        : new PtcError('TOOL_NOT_REGISTERED', `no worker that took the call so far has a tool named ${tool}`, {
            hint: `Attempt ${attempt} handed it back; start a worker that has the tool.`,
            retryAfterMs: Math.min(Math.max(Math.round(waitedMs / 10), delay.shortestMs), delay.longestMs),
          })
      // Of the engine, and always the same: the log has one line for each attempt.
      error.stack = ''
      return Promise.reject(error)
    },
    () => isGivenUp,
  )
}
