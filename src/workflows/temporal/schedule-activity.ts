import { type ActivityOptions, scheduleActivity, workflowInfo } from '@temporalio/workflow'
import { notRetriedInputErrors } from '../../common/errors.js'
import { type Role, roleQueue } from '../../common/names.js'
import type { Timeouts } from '../../common/run/run-config.js'

/** Retry policy of the engine's activities. The table in `common/errors.ts` says which errors are not retried. */
export const defaultRetry = {
  initialInterval: '500ms',
  backoffCoefficient: 2,
  maximumInterval: '30s',
  maximumAttempts: 10,
  nonRetryableErrorTypes: [...notRetriedInputErrors],
}

/** Options of an activity that moves or checks values. The value store may be unavailable for a while. */
export function valueOptions({ heartbeatMs }: Timeouts, summary: string, role: Role = 'workflow'): ActivityOptions {
  return {
    ...onRoleQueue(role),
    startToCloseTimeout: '5m',
    heartbeatTimeout: heartbeatMs,
    retry: defaultRetry,
    summary,
  }
}

export function onRoleQueue(role: Role): { readonly taskQueue: string } {
  return { taskQueue: roleQueue(workflowInfo().taskQueue, role) }
}

export function scheduleEngineActivity<Result>(
  activity: string,
  input: unknown,
  options: ActivityOptions,
): Promise<Result> {
  return scheduleActivity<Result>(activity, [input], options)
}
