import {
  FollowUps,
  modelActivities,
  sandboxActivities,
  toolActivities,
  toolCall,
  workflowActivities,
} from '../../activities/index.js'
import { hostQueue, type Role, roleQueue } from '../../common/names.js'
import { environmentVariable } from '../../sandbox/environment-variable.js'
import type { ResolvedConfig } from '../config/parse-config.js'
import type { Resources } from '../resources/open-resources.js'

/**
 * A task queue that a worker process polls. `main`: workflow tasks and tool calls; `host`: the sessions of this host;
 * the others: activities of one role.
 */
export interface EngineQueue {
  readonly kind: 'main' | 'workflow' | 'model' | 'sandbox' | 'host'
  readonly name: string
  readonly hasWorkflows: boolean
  readonly hasActivities: boolean
}

interface QueueOptions {
  readonly taskQueue: string
  readonly roles: ReadonlySet<Role>
  readonly hostId: string
  readonly hasTools: boolean
}

/** The task queues of a worker process. */
export function engineQueues({ taskQueue, roles, hostId, hasTools }: QueueOptions): readonly EngineQueue[] {
  const hasWorkflows = roles.has('workflow')
  const main = { kind: 'main', name: taskQueue, hasWorkflows, hasActivities: hasTools } as const
  const forRoles = (['workflow', 'model', 'sandbox'] as const)
    .filter((role) => roles.has(role))
    .map((role) => activityQueue(role, roleQueue(taskQueue, role)))
  const forHost = roles.has('sandbox') ? [activityQueue('host', hostQueue(taskQueue, hostId))] : []
  return [...(hasWorkflows || hasTools ? [main] : []), ...forRoles, ...forHost]
}

function activityQueue(kind: EngineQueue['kind'], name: string): EngineQueue {
  return { kind, name, hasWorkflows: false, hasActivities: true }
}

export type Activities = Readonly<Record<string, (...input: never[]) => Promise<unknown>>>

export interface ActivityOptions {
  readonly config: ResolvedConfig
  readonly namespace: string
  /** Name of the task queue of this host. */
  readonly hostQueue: string
  readonly hasTools: boolean
  readonly resources: Resources
}

/** The activities of each task queue of a process. */
export function engineActivities(options: ActivityOptions): Readonly<Record<EngineQueue['kind'], Activities>> {
  const { config, namespace, hasTools, resources } = options
  const { registry, runConfig, instructions } = config
  const { values, provider, host, audit } = resources
  const { limits } = runConfig
  const followUps = host && new FollowUps({ host, registry, values, namespace, limits, audit, hasTools })
  const sandbox =
    host && followUps && sandboxActivities({ host, registry, values, audit }, followUps, options.hostQueue)
  return {
    main: { ...toolActivities(registry, values), default: toolCall(registry, values, limits, followUps, audit) },
    workflow: workflowActivities(runConfig, registry, values),
    model: modelActivities(provider, registry, values, { instructions, hasPackages: mayHavePackages(config) }, audit),
    sandbox: sandbox?.anyHost ?? {},
    host: sandbox?.ownHost ?? {},
  }
}

/** A custom image, base image or backend may have packages beside the standard library. */
export function mayHavePackages({ sandbox: { backend, docker, customBackend } }: ResolvedConfig): boolean {
  return (
    backend === customBackend?.name ||
    (backend !== 'wasm' && (docker.image ?? environmentVariable('PTC_BASE_IMAGE')) !== undefined)
  )
}
