import { type NativeConnection, Worker, type WorkerOptions } from '@temporalio/worker'
import { FollowUps, modelActivities, sandboxActivities, toolCall, workflowActivities } from '../activities/index.js'
import { hostQueue, type Role, roleQueue } from '../common/names.js'
import type { ModelProvider } from '../models/provider.js'
import { environmentVariable } from '../sandbox/environment-variable.js'
import type { SessionHost } from '../sandbox/session/session-host.js'
import { payloadStorage } from '../values/payload-storage.js'
import type { Values } from '../values/values.js'
import type { ResolvedConfig } from './config/parse-config.js'
import { isolateTimeout } from './isolate-timeout.js'
import type { Takeover } from './takeover/takeover.js'
import type { EventLoopWatchdog } from './watchdog/event-loop-watchdog.js'
import { workflowBuildId, workflowBundle } from './workflow-bundle.js'

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
  readonly takeover?: Takeover | undefined
}

/** After a hard kill, the next workflow task of each cached workflow waits this long for the dead worker. */
const stickyScheduleToStartTimeout = '1s'

/** Time that running activities get after a shutdown request. */
const shutdownGraceTime = '10s'

/** Without it, a worker that can't deliver results to a lost server would never end. */
const shutdownForceTime = '20s'

/** Slots for tool calls: many of them only wait for a reply. */
const maxConcurrentCalls = 200

/** Creates the Temporal workers of one process: one for each task queue of its roles. */
export function createTemporalWorkers(requested: TemporalWorkersOptions): Promise<Worker[]> {
  const roles = new Set(requested.roles)
  const options = { ...requested, followUps: createFollowUps(requested, roles.has('tools')) }
  return Promise.all([
    ...createMainWorker(options, roles),
    ...options.roles.flatMap((role) => createForRole[role](options)),
  ])
}

type ProcessOptions = TemporalWorkersOptions & { readonly followUps: FollowUps | undefined }

/** Undefined without role `sandbox`. */
function createFollowUps(
  { namespace, config, values, host }: TemporalWorkersOptions,
  hasTools: boolean,
): FollowUps | undefined {
  const { registry, runConfig } = config
  return host && new FollowUps({ host, registry, values, namespace, limits: runConfig.limits, hasTools })
}

/** The worker of the configured task queue: workflow tasks for role `workflow`, tool calls for role `tools`. */
function createMainWorker(options: ProcessOptions, roles: ReadonlySet<Role>): Promise<Worker>[] {
  const { config, values, followUps } = options
  const { registry, runConfig, taskQueue } = config
  const hasTools = roles.has('tools') && registry.names.length > 0
  if (!hasTools && !roles.has('workflow')) return []
  const workflows = {
    workflowBundle: workflowBundle(),
    stickyQueueScheduleToStartTimeout: stickyScheduleToStartTimeout,
    ...isolateTimeout,
  }
  return [
    createTemporalWorker(options, taskQueue, {
      ...(roles.has('workflow') && workflows),
      ...(hasTools && { activities: { default: toolCall(registry, values, runConfig.limits, followUps) } }),
      maxConcurrentActivityTaskExecutions: maxConcurrentCalls,
    }),
  ]
}

/** The other task queues of a role. */
const createForRole: Readonly<Record<Role, (options: ProcessOptions) => Promise<Worker>[]>> = {
  workflow: (options) => [
    createTemporalWorker(options, queueOf(options, 'workflow'), {
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
  tools: () => [],
  sandbox: (options) => {
    const { host, hostId, config, values, followUps } = options
    if (!host || !followUps) return []
    const own = hostQueue(config.taskQueue, hostId)
    const { anyHost, ownHost } = sandboxActivities({ host, registry: config.registry, values }, followUps, own)
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

function deploymentVersion() {
  return { deploymentName: 'durable-ptc', buildId: workflowBuildId() }
}

function queueOf({ config }: TemporalWorkersOptions, role: Role): string {
  return roleQueue(config.taskQueue, role)
}

function createTemporalWorker(
  { connection, namespace, config, values, watchdog, takeover }: TemporalWorkersOptions,
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
    workerDeploymentOptions: { version: deploymentVersion(), useWorkerVersioning: false },
    shutdownGraceTime,
    shutdownForceTime,
    maxHeartbeatThrottleInterval,
    interceptors: { activity: [takeover, watchdog].flatMap((each) => each?.interceptors ?? []) },
    ...options,
  })
}
