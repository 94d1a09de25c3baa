import { type NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker'
import { modelActivities, sandboxActivities, toolActivities, workflowActivities } from '../activities/index.js'
import { hostQueue, type Role, roleQueue } from '../common/names.js'
import type { ModelProvider } from '../models/provider.js'
import { fromEnvironment } from '../sandbox/docker/index.js'
import type { SessionHost } from '../sandbox/session-host.js'
import { payloadStorage } from '../values/payload-storage.js'
import type { Values } from '../values/values.js'
import type { ResolvedConfig } from './config/parse-config.js'
import { executionTime } from './execution-time.js'
import type { StallWatch } from './stall/stall-watch.js'
import { workflowBundle } from './workflow-bundle.js'

export interface WorkerGroupOptions {
  readonly connection: NativeConnection
  readonly namespace: string
  readonly config: ResolvedConfig
  readonly roles: readonly Role[]
  readonly hostId: string
  readonly provider: ModelProvider
  readonly values: Values
  /** Only with role `sandbox`. */
  readonly host: SessionHost | undefined
  /** Where tools run. */
  readonly stallWatch?: StallWatch | undefined
}

/** After a hard kill, the next workflow task of each cached workflow waits this long for the dead worker. */
const stickyTimeout = '1s'

/** Activities that are under way get this long when the worker is told to stop. */
const graceTime = '10s'

/** A server that is gone takes no results: a worker that waits for that would never end. */
const forceTime = '20s'

/** The Temporal workers of one process: one for each queue that its roles serve. */
export function createWorkers(options: WorkerGroupOptions): Promise<Worker[]> {
  return Promise.all(options.roles.flatMap((role) => workersOf[role](options)))
}

const workersOf: Readonly<Record<Role, (options: WorkerGroupOptions) => Promise<Worker>[]>> = {
  workflow: (options) => [
    create(options, queueOf(options, 'workflow'), {
      workflowBundle: workflowBundle(),
      stickyQueueScheduleToStartTimeout: stickyTimeout,
      ...executionTime,
      activities: workflowActivities(options.config.plan, options.config.registry, options.values),
    }),
  ],
  model: (options) => [
    create(options, queueOf(options, 'model'), {
      activities: modelActivities(options.provider, options.config.registry, options.values, {
        instructions: options.config.instructions,
        hasPackages: mayHavePackages(options.config),
      }),
    }),
  ],
  tools: (options) =>
    // Temporal takes no worker without activities, and code needs no tools.
    options.config.registry.names.length === 0
      ? []
      : [
          create(options, queueOf(options, 'tools'), {
            activities: toolActivities(options.config.registry, options.values, options.config.plan.limits),
            maxConcurrentActivityTaskExecutions: 200,
          }),
        ],
  sandbox: (options) => {
    const { host, hostId, config, values } = options
    if (!host) return []
    const own = hostQueue(config.taskQueue, hostId)
    const { anyHost, ownHost } = sandboxActivities(host, config.registry, values, own)
    return [
      create(options, queueOf(options, 'sandbox'), { activities: anyHost }),
      create(options, own, { activities: ownHost }),
    ]
  },
}

/** An image, a base image or a backend of the user's own may have more than the standard library. */
export function mayHavePackages({ sandbox: { backend, docker, own } }: ResolvedConfig): boolean {
  return (
    backend === own?.name || (backend !== 'wasm' && (docker.image ?? fromEnvironment('PTC_BASE_IMAGE')) !== undefined)
  )
}

function queueOf({ config }: WorkerGroupOptions, role: Role): string {
  return roleQueue(config.taskQueue, role)
}

function create(
  { connection, namespace, config, values, stallWatch }: WorkerGroupOptions,
  taskQueue: string,
  options: Partial<WorkerOptions>,
): Promise<Worker> {
  // The SDK keeps heartbeats back until four fifths of their time are over: a worker that is slow for a moment would count as dead.
  const maxHeartbeatThrottleInterval = config.plan.timings.heartbeatMs / 3
  return Worker.create({
    connection,
    namespace,
    taskQueue,
    dataConverter: { externalStorage: payloadStorage(values.store) },
    shutdownGraceTime: graceTime,
    shutdownForceTime: forceTime,
    maxHeartbeatThrottleInterval,
    ...(stallWatch && { interceptors: { activity: [stallWatch.interceptors] } }),
    ...options,
  })
}
