import { type NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker'
import { modelActivities, sandboxActivities, toolActivities, workflowActivities } from '../activities/index.js'
import { hostQueue, type Role, roleQueue } from '../common/names.js'
import type { ModelProvider } from '../models/provider.js'
import { environmentVariable } from '../sandbox/environment-variable.js'
import type { SessionHost } from '../sandbox/session/session-host.js'
import { payloadStorage } from '../values/payload-storage.js'
import type { Values } from '../values/values.js'
import type { ResolvedConfig } from './config/parse-config.js'
import { isolateTimeout } from './isolate-timeout.js'
import type { EventLoopWatchdog } from './watchdog/event-loop-watchdog.js'
import { workflowBundle } from './workflow-bundle.js'

interface TemporalWorkersOptions {
  readonly connection: NativeConnection
  readonly namespace: string
  readonly config: ResolvedConfig
  readonly roles: readonly Role[]
  readonly hostId: string
  readonly provider: ModelProvider
  readonly values: Values
  /** Only with role `sandbox`. */
  readonly host: SessionHost | undefined
  /** Only with role `tools`. */
  readonly watchdog?: EventLoopWatchdog | undefined
}

/** After a hard kill, the next workflow task of each cached workflow waits this long for the dead worker. */
const stickyScheduleToStartTimeout = '1s'

/** Time that running activities get after a shutdown request. */
const shutdownGraceTime = '10s'

/** Without it, a worker that can't deliver results to a lost server would never end. */
const shutdownForceTime = '20s'

/** Creates the Temporal workers of one process: one for each task queue of its roles. */
export function createTemporalWorkers(options: TemporalWorkersOptions): Promise<Worker[]> {
  return Promise.all(options.roles.flatMap((role) => createForRole[role](options)))
}

const createForRole: Readonly<Record<Role, (options: TemporalWorkersOptions) => Promise<Worker>[]>> = {
  workflow: (options) => [
    createTemporalWorker(options, queueOf(options, 'workflow'), {
      workflowBundle: workflowBundle(),
      stickyQueueScheduleToStartTimeout: stickyScheduleToStartTimeout,
      ...isolateTimeout,
      activities: workflowActivities(options.config.runConfig, options.config.registry, options.values),
    }),
  ],
  model: (options) => [
    createTemporalWorker(options, queueOf(options, 'model'), {
      activities: modelActivities(options.provider, options.config.registry, options.values, {
        instructions: options.config.instructions,
        hasPackages: mayHavePackages(options.config),
      }),
    }),
  ],
  tools: (options) =>
    // Temporal rejects a worker without activities.
    options.config.registry.names.length === 0
      ? []
      : [
          createTemporalWorker(options, queueOf(options, 'tools'), {
            activities: toolActivities(options.config.registry, options.values, options.config.runConfig.limits),
            maxConcurrentActivityTaskExecutions: 200,
          }),
        ],
  sandbox: (options) => {
    const { host, hostId, config, values } = options
    if (!host) return []
    const own = hostQueue(config.taskQueue, hostId)
    const { anyHost, ownHost } = sandboxActivities(host, config.registry, values, own)
    return [
      createTemporalWorker(options, queueOf(options, 'sandbox'), { activities: anyHost }),
      createTemporalWorker(options, own, { activities: ownHost }),
    ]
  },
}

/** A custom image, base image or backend may have packages beside the standard library. */
export function mayHavePackages({ sandbox: { backend, docker, customBackend } }: ResolvedConfig): boolean {
  return (
    backend === customBackend?.name ||
    (backend !== 'wasm' && (docker.image ?? environmentVariable('PTC_BASE_IMAGE')) !== undefined)
  )
}

function queueOf({ config }: TemporalWorkersOptions, role: Role): string {
  return roleQueue(config.taskQueue, role)
}

function createTemporalWorker(
  { connection, namespace, config, values, watchdog }: TemporalWorkersOptions,
  taskQueue: string,
  options: Partial<WorkerOptions>,
): Promise<Worker> {
  // The SDK throttles heartbeats to four fifths of their timeout: a worker that is slow for a moment would count as
  // dead.
  const maxHeartbeatThrottleInterval = config.runConfig.timeouts.heartbeatMs / 3
  return Worker.create({
    connection,
    namespace,
    taskQueue,
    dataConverter: { externalStorage: payloadStorage(values.valueStore) },
    shutdownGraceTime,
    shutdownForceTime,
    maxHeartbeatThrottleInterval,
    ...(watchdog && { interceptors: { activity: [watchdog.interceptors] } }),
    ...options,
  })
}
