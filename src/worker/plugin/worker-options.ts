import type { DataConverter } from '@temporalio/common'
import type { ActivityInterceptorsFactory, WorkerOptions } from '@temporalio/worker'
import { defined } from '../../common/defined.js'
import { PtcError } from '../../common/errors.js'
import { activityNames } from '../../common/names.js'
import type { ResolvedConfig } from '../../config/parse-config.js'
import type { ToolRegistry } from '../../tools/registry.js'
import { assertHasEngineWorkflows } from './bundle-workflows.js'
import type { Activities, EngineQueue } from './task-queues.js'
import { bundleKind, isolateTimeout, workflowBuildId, workflowBundle } from './workflow-bundle.js'

/** After a hard kill, the next workflow task of each cached workflow waits this long for the dead worker. */
const stickyQueueScheduleToStartTimeout = '1s'

/**
 * Milliseconds after the end of the grace time. Without this limit, a worker that can't deliver results to a lost
 * server would never end.
 */
const shutdownForceMs = 10_000

/** Slots for tool calls. Many calls only wait for a reply. */
const maxConcurrentActivityTaskExecutions = 200

/** Options of every worker of the process. */
export interface EngineOptions {
  readonly config: ResolvedConfig
  readonly dataConverter: DataConverter
  readonly interceptors: readonly ActivityInterceptorsFactory[]
}

/** Whether a worker of the user has work without durable-ptc. */
export function hasOwnWork({ activities = {}, workflowsPath, workflowBundle, nexusServices }: WorkerOptions): boolean {
  const isEmpty = workflowsPath === undefined && workflowBundle === undefined && nexusServices === undefined
  return !isEmpty || Object.keys(activities).length > 0
}

/**
 * The options of the user's worker with those of durable-ptc. An option that the user has set stays unchanged.
 *
 * @param queue the queue that this worker polls for durable-ptc; undefined: none
 * @throws PtcError CONFIG_INVALID when a bundle of the user lacks the engine's workflows
 */
export function addEngine(
  options: WorkerOptions,
  engine: EngineOptions,
  queue: (EngineQueue & { readonly activities: Activities }) | undefined,
): WorkerOptions {
  for (const interceptor of engine.interceptors) addedInterceptors.add(interceptor)
  return {
    // The SDK does not allow slots together with a tuner.
    ...(queue && options.tuner === undefined && limitsOf(queue)),
    ...defaults(engine.config),
    ...(hasBuildId(options) ? {} : { workerDeploymentOptions: workerDeploymentOptions() }),
    ...options,
    ...shared(options, engine),
    ...defined({ taskQueue: queue?.name }),
    // Only workflows and tools are versioned: see roleWorkerOptions.
    ...(queue && queue.kind !== 'main' && { workerDeploymentOptions: workerDeploymentOptions() }),
    ...(queue?.hasActivities && { activities: { ...options.activities, ...queue.activities } }),
    ...(queue?.hasWorkflows && addWorkflows(options, engine.config)),
  }
}

/** The limits of a worker of the queue. The server applies a rate to all workers of the queue together. */
function limitsOf({ kind, maxPerSecond }: EngineQueue) {
  return {
    ...((kind === 'main' || kind === 'tools') && { maxConcurrentActivityTaskExecutions }),
    ...defined({ maxTaskQueueActivitiesPerSecond: maxPerSecond }),
  }
}

/**
 * The grace time of a worker that only has the sandboxes of its host, in milliseconds: enough for a short step. Longer
 * code stays in its sandbox, and the next worker attaches to it.
 */
const hostGraceMs = 1_000

/** Options that differ for a worker that durable-ptc creates for this queue. */
export function queueOptions(queue: EngineQueue, { shutdownMs }: ResolvedConfig) {
  return {
    ...limitsOf(queue),
    ...(queue.kind === 'host' && { shutdownGraceTime: Math.min(shutdownMs, hostGraceMs) }),
  }
}

/** The options of a worker that durable-ptc creates for another queue of the same process. */
export function roleWorkerOptions(options: WorkerOptions, engine: EngineOptions): Omit<WorkerOptions, 'taskQueue'> {
  const { namespace, identity } = options
  return {
    ...defaults(engine.config),
    ...defined({
      shutdownGraceTime: options.shutdownGraceTime,
      shutdownForceTime: options.shutdownForceTime,
      namespace,
      identity,
    }),
    ...shared(options, engine),
    // Temporal allows 100 task queues in a deployment version, and each host has one.
    workerDeploymentOptions: workerDeploymentOptions(),
  }
}

function defaults({ runConfig, shutdownMs }: ResolvedConfig) {
  return {
    shutdownGraceTime: shutdownMs,
    shutdownForceTime: shutdownMs + shutdownForceMs,
    // The SDK throttles heartbeats to four fifths of their timeout: a worker that is slow for a moment would count as
    // dead.
    maxHeartbeatThrottleInterval: runConfig.timeouts.heartbeatMs / 3,
  }
}

function shared({ interceptors }: WorkerOptions, engine: EngineOptions) {
  return {
    dataConverter: engine.dataConverter,
    interceptors: { ...interceptors, activity: [...engine.interceptors, ...(interceptors?.activity ?? [])] },
  }
}

function addWorkflows(options: WorkerOptions, { tracing, encryption }: ResolvedConfig): Partial<WorkerOptions> {
  const { workflowsPath, workflowBundle: bundle } = options
  if (bundle !== undefined) assertHasEngineWorkflows(bundle)
  const kind = bundleKind({ isTraced: tracing !== undefined, isEncrypted: encryption !== undefined })
  const isPrebuilt = bundle === undefined && workflowsPath === undefined
  return {
    stickyQueueScheduleToStartTimeout: options.stickyQueueScheduleToStartTimeout ?? stickyQueueScheduleToStartTimeout,
    ...isolateTimeout,
    ...(isPrebuilt && { workflowBundle: workflowBundle(kind) }),
  }
}

/** Whether the user has set the build id of a worker, or has workflows from which Temporal derives one. */
function hasBuildId(options: WorkerOptions): boolean {
  const { buildId, workerDeploymentOptions: deployment, workflowsPath, workflowBundle: bundle } = options
  return [buildId, deployment, workflowsPath, bundle].some((each) => each !== undefined)
}

function workerDeploymentOptions() {
  return {
    version: { deploymentName: 'durable-ptc', buildId: workflowBuildId() },
    useWorkerVersioning: false,
  } as const
}

/** The interceptors that `addEngine` has added to workers. Each worker gets at least one. */
const addedInterceptors = new WeakSet<ActivityInterceptorsFactory>()

/**
 * Refuses a worker that the plugin has already joined, and an activity of the user with the name of a tool or of an
 * activity of durable-ptc: Temporal finds an activity by its name, and would run the user's.
 *
 * @throws PtcError CONFIG_INVALID
 */
export function assertCanAddEngine({ activities = {}, interceptors }: WorkerOptions, registry: ToolRegistry): void {
  if (interceptors?.activity?.some((interceptor) => addedInterceptors.has(interceptor))) {
    throw new PtcError('CONFIG_INVALID', 'this worker has the plugin of durable-ptc twice', {
      hint: 'Give it to the connection or to the worker, not to both.',
    })
  }
  const ownTools = registry.names.filter((name) => !registry.get(name)?.remote)
  const taken = [...ownTools, ...Object.values(activityNames), 'default'].find((name) =>
    Object.hasOwn(activities, name),
  )
  if (taken === undefined) return
  const owner = registry.get(taken) ? 'a tool of durable-ptc' : 'an activity of durable-ptc'
  throw new PtcError('CONFIG_INVALID', `the activities of this worker have ${taken}, which is ${owner}`, {
    hint: 'Rename one of them, or give durable-ptc a worker on another task queue.',
  })
}
