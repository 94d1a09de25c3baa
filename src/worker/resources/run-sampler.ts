import type { NativeConnection } from '@temporalio/worker'
import { quoteLiteral } from '../../common/list-filter.js'
import { metrics } from '../../common/metrics.js'
import type { ActiveStatus } from '../../common/search-attributes.js'
import { type Sampler, startSampler } from './sampler.js'

interface RunSamplerOptions {
  readonly connection: Pick<NativeConnection, 'workflowService'>
  readonly namespace: string
  readonly taskQueue: string
}

const statuses = ['running', 'waiting'] as const satisfies readonly ActiveStatus[]

/**
 * Samples how many runs and sessions of a task queue are open: Temporal counts them, because a parked run has no worker.
 * On a server without the search attribute `PtcStatus` there is no sample.
 */
export function startRunSampler({ connection, namespace, taskQueue }: RunSamplerOptions): Sampler {
  const count = async (status: ActiveStatus): Promise<void> => {
    const query = `TaskQueue = ${quoteLiteral(taskQueue)} AND ExecutionStatus = 'Running' AND PtcStatus = '${status}'`
    const response = await connection.workflowService.countWorkflowExecutions({ namespace, query })
    metrics.set('ptc_runs_open', Number(response.count), { task_queue: taskQueue, status })
  }
  return startSampler(async () => {
    await Promise.all(statuses.map(count))
  })
}
