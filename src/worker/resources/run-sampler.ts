import type { NativeConnection } from '@temporalio/worker'
import { quoteLiteral } from '../../common/run/list-filter.js'
import { metrics } from '../../common/telemetry/metrics.js'
import type { ActiveStatus } from '../../common/run/search-attributes.js'
import type { Repeated } from './repeat.js'
import { startSampler } from './sampler.js'

interface RunSamplerOptions {
  readonly connection: Pick<NativeConnection, 'workflowService'>
  readonly namespace: string
  readonly taskQueue: string
}

/** Statuses by the label `status`. */
const statusesByLabel = {
  running: ['running'],
  waiting: ['waiting', 'waiting_for_approval', 'waiting_for_result'],
} as const satisfies Record<string, readonly ActiveStatus[]>

/**
 * Samples how many runs and sessions of a task queue are open, and how many of them can't continue. Temporal counts
 * them, because a parked run has no worker. There is no sample on a server without the search attribute `PtcStatus`, or
 * on one before 1.30 without `TemporalReportedProblems`.
 */
export function startRunSampler({ connection, namespace, taskQueue }: RunSamplerOptions): Repeated {
  const count = async (condition: string): Promise<number> => {
    const query = `TaskQueue = ${quoteLiteral(taskQueue)} AND ExecutionStatus = 'Running' AND ${condition}`
    const response = await connection.workflowService.countWorkflowExecutions({ namespace, query })
    return Number(response.count)
  }
  const countOpen = async ([status, values]: readonly [string, readonly ActiveStatus[]]): Promise<void> => {
    const open = await count(`PtcStatus IN (${values.map(quoteLiteral).join(', ')})`)
    metrics.set('ptc_runs_open', open, { task_queue: taskQueue, status })
  }
  const countFailing = async (): Promise<void> => {
    const failing = await count('TemporalReportedProblems IS NOT NULL')
    metrics.set('ptc_runs_failing', failing, { task_queue: taskQueue })
  }
  return startSampler('open runs', async () => {
    await Promise.all([...Object.entries(statusesByLabel).map(countOpen), countFailing()])
  })
}
