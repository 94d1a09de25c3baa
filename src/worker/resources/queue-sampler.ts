import proto from '@temporalio/proto'
import type { NativeConnection } from '@temporalio/worker'
import { metrics } from '../../common/telemetry/metrics.js'
import { type Role, roleQueue, roles } from '../../common/names.js'
import { type Sampler, startSampler } from './sampler.js'

const { TaskQueueType } = proto.temporal.api.enums.v1

interface QueueSamplerOptions {
  readonly connection: Pick<NativeConnection, 'workflowService'>
  readonly namespace: string
  readonly taskQueue: string
}

/**
 * Samples for how long the oldest task of each role has waited. Temporal knows it: a role without a worker reports
 * nothing itself.
 */
export function startQueueSampler({ connection, namespace, taskQueue }: QueueSamplerOptions): Sampler {
  const measure = async (role: Role): Promise<void> => {
    const isWorkflow = role === 'workflow'
    const { stats } = await connection.workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name: isWorkflow ? taskQueue : roleQueue(taskQueue, role) },
      taskQueueType: isWorkflow ? TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW : TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
      reportStats: true,
    })
    const { seconds, nanos } = stats?.approximateBacklogAge ?? {}
    const age = Number(seconds ?? 0) * 1_000 + (nanos ?? 0) / 1e6
    metrics.set('ptc_task_queue_backlog_age_milliseconds', age, { task_queue: taskQueue, role })
  }
  return startSampler(async () => {
    await Promise.all(roles.map(measure))
  })
}
