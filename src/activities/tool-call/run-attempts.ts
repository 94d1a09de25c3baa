import { activityInfo, log } from '@temporalio/activity'
import { defined } from '../../common/defined.js'
import type { RunConfig } from '../../common/run/run-config.js'
import type { Credentials } from '../../tools/credentials/credentials.js'
import { type ActivityScope, runActivity } from '../run-activity.js'
import { type AttemptReport, readAttemptReport, toolAttempt } from './attempt-report.js'

/** The attempts at a call, or at its compensation. */
interface Attempts {
  /** Maximum number of attempts. The failure of the last one is not retried. */
  readonly limit: number
  /** Returns heartbeat details for people. */
  readonly describe: (attempt: number) => object
  readonly agent: string | undefined
  readonly runContext: NonNullable<RunConfig['context']>
  readonly credentials: Credentials | undefined
}

interface Attempt {
  /** Number of the attempt, from 1. Only attempts that may have run the tool count. */
  readonly attempt: number
  /**
   * Time at which workers without the tool began to get the call. Undefined when the previous attempt was on a worker
   * with the tool.
   */
  readonly unregisteredSince: number | undefined
  /** The second argument of the tool. */
  readonly context: ReturnType<typeof toolContext>['context']
  /** Shows a milestone of the tool in the heartbeats of the activity. */
  readonly reportMilestone: (text: string) => void
}

/** Runs the activity of a tool. Its heartbeat details contain the reports of the tool and of earlier attempts. */
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
    const said = { details, ...defined({ milestone }) }
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
