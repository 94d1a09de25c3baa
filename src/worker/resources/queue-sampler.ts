import proto from '@temporalio/proto'
import type { NativeConnection } from '@temporalio/worker'
import { metrics } from '../../common/telemetry/metrics.js'
import { roleQueue, roles, sandboxQueue } from '../../common/names.js'
import { sandboxBackends } from '../../common/run/run-config.js'
import { ownToolQueues } from '../../tools/own-queues.js'
import type { ToolRegistry } from '../../tools/registry.js'
import type { ResolvedConfig } from '../../config/parse-config.js'
import type { Repeated } from './repeat.js'
import { startSampler } from './sampler.js'

const { TaskQueueType } = proto.temporal.api.enums.v1

interface QueueSamplerOptions {
  readonly connection: Pick<NativeConnection, 'workflowService'>
  readonly namespace: string
  readonly taskQueue: string
  readonly config: Pick<ResolvedConfig, 'sandbox'>
  readonly registry: ToolRegistry
}

interface SampledQueue {
  readonly name: string
  readonly type: 'workflow' | 'activity'
  readonly labels: { readonly task_queue: string; readonly role: string }
}

/**
 * Samples for how long the oldest task of each role and sandbox backend has waited, and of each tool with its own task
 * queue. The numbers come from Temporal, because a role without a worker reports nothing itself.
 */
export function startQueueSampler(options: QueueSamplerOptions): Repeated {
  const { connection, namespace } = options
  const queues = sampledQueues(options)
  const measure = async ({ name, type, labels }: SampledQueue): Promise<void> => {
    const { stats } = await connection.workflowService.describeTaskQueue({
      namespace,
      taskQueue: { name },
      taskQueueType:
        type === 'workflow' ? TaskQueueType.TASK_QUEUE_TYPE_WORKFLOW : TaskQueueType.TASK_QUEUE_TYPE_ACTIVITY,
      reportStats: true,
    })
    const { seconds, nanos } = stats?.approximateBacklogAge ?? {}
    const age = Number(seconds ?? 0) * 1_000 + (nanos ?? 0) / 1e6
    metrics.set('ptc_task_queue_backlog_age_milliseconds', age, labels)
  }
  return startSampler('task queues', async () => {
    await Promise.all(queues.map(measure))
  })
}

/** The queues to sample. Calls of a tool with a `rate` wait without a fault, so its task queue is left out. */
function sampledQueues({ taskQueue, config: { sandbox }, registry }: QueueSamplerOptions): readonly SampledQueue[] {
  const backends = [...sandboxBackends, ...(sandbox.customBackend ? [sandbox.customBackend.name] : [])]
  const tools = registry.toolConfigs().filter(({ rate }) => !rate)
  return [
    ...roles.map((role) => ({
      name: role === 'workflow' ? taskQueue : roleQueue(taskQueue, role),
      type: role === 'workflow' ? ('workflow' as const) : ('activity' as const),
      labels: { task_queue: taskQueue, role },
    })),
    ...backends.map((backend) => ({
      name: sandboxQueue(taskQueue, backend),
      type: 'activity' as const,
      labels: { task_queue: sandboxQueue(taskQueue, backend), role: 'sandbox' },
    })),
    ...ownToolQueues(taskQueue, tools).map(({ name, type }) => ({
      name,
      type,
      labels: { task_queue: name, role: type === 'workflow' ? 'workflow' : 'tools' },
    })),
  ]
}
