import {
  FollowUps,
  modelActivities,
  sandboxActivities,
  toolActivities,
  toolCall,
  workflowActivities,
} from '../../activities/index.js'
import { defined } from '../../common/defined.js'
import { PtcError } from '../../common/errors.js'
import { isReservedQueue, type Role, roleQueue, sandboxQueue, toolQueue } from '../../common/names.js'
import type { BackendChoice, BackendName } from '../../common/run/run-config.js'
import type { Skill } from '../../skills/index.js'
import { environmentVariable } from '../../platform/environment-variable.js'
import type { ToolRegistry } from '../../tools/registry.js'
import type { OpenTools } from '../../config/configured-tools.js'
import type { ResolvedConfig } from '../../config/parse-config.js'
import { providersWith } from '../../models/options/providers.js'
import type { SandboxDescription } from '../../models/prompt/prompt.js'
import type { Resources } from '../resources/open-resources.js'

/**
 * A task queue that a worker process polls. `main`: workflow tasks and tool calls; `tools`: calls of tools with their
 * own task queue; `sandbox`: opening sessions of one backend, or of any; `host`: the sessions of one backend on this
 * host; the others: activities of one role.
 */
export interface EngineQueue {
  readonly kind: 'main' | 'tools' | 'workflow' | 'model' | 'sandbox' | 'host'
  readonly name: string
  readonly hasWorkflows: boolean
  readonly hasActivities: boolean
  /** Maximum activities per second, over all workers of the queue. */
  readonly maxPerSecond?: number
}

interface QueueOptions {
  readonly taskQueue: string
  readonly roles: ReadonlySet<Role>
  /** The task queue of the sessions with a backend on this host, or where several hosts reach them. */
  readonly hostQueueOf: (backend: BackendName) => string
  readonly registry: ToolRegistry
  /** The sandbox backends of this process; none without role `sandbox`. */
  readonly backends: readonly BackendName[]
}

/** Whether a worker with this role has tool calls to execute, or results of remote tools to check. */
export function servesTools(roles: ReadonlySet<Role>, registry: ToolRegistry): boolean {
  return roles.has('tools') && registry.names.length > 0
}

/**
 * The task queues of a worker process.
 *
 * @throws PtcError CONFIG_INVALID when a tool names a queue that has another purpose
 */
export function engineQueues({
  taskQueue,
  roles,
  hostQueueOf,
  registry,
  backends,
}: QueueOptions): readonly EngineQueue[] {
  const hasTools = servesTools(roles, registry)
  const hasWorkflows = roles.has('workflow')
  const main = { kind: 'main', name: taskQueue, hasWorkflows, hasActivities: hasTools } as const
  const forRoles = (['workflow', 'model'] as const)
    .filter((role) => roles.has(role))
    .map((role) => activityQueue(role, roleQueue(taskQueue, role)))
  const choices = backends.length === 0 ? [] : (['auto', ...backends] as const)
  const forSandboxes = choices.map((backend) => activityQueue('sandbox', sandboxQueue(taskQueue, backend)))
  const forHost = backends.map((backend) => activityQueue('host', hostQueueOf(backend)))
  const forTools = hasTools ? queuesOfTools(taskQueue, registry) : []
  return [...(hasWorkflows || hasTools ? [main] : []), ...forRoles, ...forSandboxes, ...forTools, ...forHost]
}

/** The queues of tools other than the task queue of the workflows. */
function queuesOfTools(taskQueue: string, registry: ToolRegistry): readonly EngineQueue[] {
  const queues = new Map<string, EngineQueue>()
  for (const tool of registry.toolConfigs().filter(({ remote }) => !remote)) {
    const name = toolQueue(taskQueue, tool)
    if (tool.taskQueue !== undefined && isReservedQueue(taskQueue, name)) {
      throw new PtcError('CONFIG_INVALID', `tool ${tool.name}: taskQueue ${name} has another purpose`, {
        hint: 'Leave it out, or give the tool its own task queue.',
      })
    }
    if (isReservedQueue(taskQueue, name)) continue
    queues.set(name, { ...activityQueue('tools', name), ...defined({ maxPerSecond: tool.rate?.perSecond }) })
  }
  return [...queues.values()]
}

function activityQueue(kind: EngineQueue['kind'], name: string): EngineQueue {
  return { kind, name, hasWorkflows: false, hasActivities: true }
}

export type Activities = Readonly<Record<string, (...input: never[]) => Promise<unknown>>>

export interface ActivityOptions {
  readonly config: ResolvedConfig
  readonly tools: OpenTools
  readonly skills: readonly Skill[]
  readonly namespace: string
  /** The task queue of the sessions with a backend on this host. */
  readonly hostQueueOf: (backend: BackendName) => string
  readonly hasTools: boolean
  readonly resources: Resources
}

/** The activities of each task queue of a process. */
export function engineActivities(options: ActivityOptions): Readonly<Record<EngineQueue['kind'], Activities>> {
  const { config, tools, namespace, hasTools, resources } = options
  const { registry, agents } = tools
  const { runConfig, instructions, credentials } = config
  const { values, providers, host, audit, stream } = resources
  const { limits } = runConfig
  const shared = { registry, values, audit, stream }
  const followUps = host && new FollowUps({ ...shared, host, namespace, limits, credentials, hasTools })
  const { hostQueueOf } = options
  const sandbox =
    host && followUps && sandboxActivities({ ...shared, host, followUps, hostQueueOf, credentials, namespace })
  const callTool = toolCall({ ...shared, limits, followUps, credentials })
  return {
    main: { ...toolActivities({ ...shared, onApprovalRequest: config.onApprovalRequest }), default: callTool },
    tools: { default: callTool },
    workflow: workflowActivities({
      ...shared,
      configuration: {
        defaults: runConfig,
        registry,
        agents,
        instructions,
        language: config.language,
        environment: config.environment,
        providers: Object.keys(config.providers),
        models: config.models,
        dataFlow: config.dataFlow,
        skills: options.skills,
        files: config.files,
        backendsWithoutFiles: backendsWithoutFiles(config),
        preferredBackend: host?.backends[0],
        network: config.network,
        backendsWithoutNetwork: backendsWithoutNetwork(config),
        hostingProviders: providersWith('hostsCode', config.providers),
      },
      lookUpSearchAttributes: resources.lookUpSearchAttributes,
      contentsOf: host && ((backend, spec, signal) => host.contentsOf(backend, spec, signal)),
    }),
    model: modelActivities({ ...shared, providers, options: describedSandbox(config, host?.backends[0]) }),
    sandbox: sandbox?.anyHost ?? {},
    host: sandbox?.ownHost ?? {},
  }
}

/** A custom backend says whether its sandboxes can have files; those of this package can. */
function backendsWithoutFiles({ sandbox: { customBackend } }: ResolvedConfig): readonly string[] {
  return customBackend && customBackend.files !== true ? [customBackend.name] : []
}

/** The embedded sandbox has no network; a custom backend says whether its sandboxes can have one. */
function backendsWithoutNetwork({ sandbox: { customBackend } }: ResolvedConfig): readonly string[] {
  return ['wasm', ...(customBackend && customBackend.network !== true ? [customBackend.name] : [])]
}

/**
 * What the prompt says about the sandbox.
 *
 * @param preferred the backend of runs that ask for none, where this process knows it
 */
export function describedSandbox(
  config: ResolvedConfig,
  preferred: BackendChoice = config.sandbox.backend,
): Required<SandboxDescription> {
  return { hasPackages: mayHavePackages(config), isEmbedded: preferred === 'wasm' }
}

/** Whether code may have packages besides the standard library: those of a custom image, base image, backend or wheel. */
export function mayHavePackages({
  sandbox: { backend, image, packages, customBackend, wasm },
}: ResolvedConfig): boolean {
  return (
    backend === customBackend?.name ||
    (backend === 'wasm' && wasm.wheels !== undefined) ||
    (backend !== 'wasm' && (image ?? packages ?? environmentVariable('PTC_BASE_IMAGE')) !== undefined)
  )
}
