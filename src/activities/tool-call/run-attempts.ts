import { activityInfo, log } from '@temporalio/activity'
import type { RunConfig } from '../../common/runs/run-config.js'
import type { Credentials } from '../../tools/credentials/credentials.js'
import { type ActivityScope, runActivity } from '../run-activity.js'
import { type AttemptReport, readAttemptReport, toolAttempt } from './attempt-report.js'

/** The attempts at a call, or at its compensation. */
interface Attempts {
  /** The failure of the last one is not retried. */
  readonly limit: number
  /** Heartbeat details for people. */
  readonly describe: (attempt: number) => object
  readonly agent: string | undefined
  readonly runContext: NonNullable<RunConfig['context']>
  readonly credentials: Credentials | undefined
}

/** One attempt. */
interface Attempt {
  /** Its number among those that may have run the tool, from 1. */
  readonly attempt: number
  /** When workers without the tool began to get the call, if the attempt before was on one. */
  readonly unregisteredSince: number | undefined
  /** What the tool gets besides its input. */
  readonly context: ReturnType<typeof toolContext>['context']
  /** Shows a milestone of the tool in the heartbeats of the activity. */
  readonly reportMilestone: (text: string) => void
}

/** Runs the activity of a tool, whose heartbeat details carry over what the tool and earlier attempts reported. */
export function runAttempts<Result>(
  attempts: Attempts,
  work: (scope: ActivityScope, attempt: Attempt) => Promise<Result>,
): Promise<Result> {
  return runActivity(
    (scope) => {
      const previous = readAttemptReport(scope.previousDetails)
      const attempt = toolAttempt(scope.attempt, previous)
      const { context, reportMilestone } = toolContext(attempts, scope, attempt, previous)
      return work(scope, { attempt, unregisteredSince: previous.unregisteredSince, context, reportMilestone })
    },
    (attempt, earlierDetails) => toolAttempt(attempt, readAttemptReport(earlierDetails)) >= attempts.limit,
    (attempt, earlierDetails) => {
      const report = readAttemptReport(earlierDetails)
      return { ...attempts.describe(toolAttempt(attempt, report)), ...report }
    },
  )
}

function toolContext(
  { describe, agent, runContext, credentials }: Attempts,
  { signal, report, runMonitored, workflowId, runId }: ActivityScope,
  attempt: number,
  { details: heartbeatDetails, unregisteredAttempts }: AttemptReport,
) {
  let details = heartbeatDetails
  let milestone: string | undefined
  const send = (): void => {
    const said = { details, ...(milestone !== undefined && { milestone }) }
    report({ ...describe(attempt), ...said, unregisteredAttempts } satisfies AttemptReport)
  }
  const heartbeat = (newDetails: unknown = details): void => {
    details = newDetails
    send()
  }
  const reportMilestone = (text: string): void => {
    milestone = text
    send()
  }
  const run = { namespace: activityInfo().namespace, workflowId, runId, agent }
  const called = { signal, attempt, log, heartbeat, heartbeatDetails }
  return { context: { ...called, runMonitored, run, context: runContext, credentials }, reportMilestone }
}
