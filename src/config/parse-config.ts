import { z } from 'zod'
import { defined } from '../common/defined.js'
import { budgetSchema } from './options/budget.js'
import { applyOverrides, limitsSchema } from './options/limits.js'
import { modelSettingFields, parseModelSettings } from './options/model-settings.js'
import { type Agents, createAgents } from '../agents/index.js'
import { PtcError } from '../common/errors.js'
import type { Limits } from '../common/run/limits.js'
import { type ModelSettings, overrideSettings } from '../common/agent/model-settings.js'
import { taskModes } from '../common/agent/task-modes.js'
import { defaultTaskQueue } from '../common/names.js'
import { type Redact, safeRedact, unredacted } from '../common/text/redact.js'
import type { BackendChoice, BuiltInBackend, RunDefaults } from '../common/run/run-config.js'
import type { ModelFacts } from '../models/facts/model-facts.js'
import { type BackendDefinition, isBackendDefinition } from '../sandbox/define-backend.js'
import type { Credentials } from '../tools/credentials/credentials.js'
import type { ToolRegistry } from '../tools/registry.js'
import type { StreamSink } from '../stream/index.js'
import { KeyRing } from '../values/encryption/key-ring.js'
import { isListenAddress } from '../platform/listen-address.js'
import { approvalsOption, type ApprovalsOption } from './options/approvals.js'
import { auditOption, type AuditSettings, auditSettings } from '../audit/option.js'
import { compactionConfig, compactionOption } from './options/compaction.js'
import { type ConfiguredTools, configuredTools } from './configured-tools.js'
import { checkCredentialNames, createCredentials, credentialsOption } from '../tools/credentials/option.js'
import type { TracingPlugin } from './define-config.js'
import { describeIssues } from './describe-issues.js'
import { durationOption } from '../platform/option-schemas.js'
import { encryptionOption } from '../values/encryption/option.js'
import {
  configuredModel,
  type ProviderOption,
  providersOption,
  withBuiltInProviders,
} from '../models/options/providers.js'
import { modelsOption } from '../models/options/models.js'
import { parseServerTools } from '../models/options/server-tools.js'
import { snapshotConfig, snapshotsOption } from './options/snapshots.js'
import { valuesOption, type ValuesSettings, valuesSettings } from '../values/option.js'

const modelNames = z.union([z.string().min(1), z.array(z.string().min(1)).min(1)])

const positiveInteger = z.int().min(1)

const listenAddress = z.string().refine(isListenAddress, 'must be an IP address and a port, such as "127.0.0.1:9464"')

const backendNames: readonly unknown[] = ['auto', 'docker', 'wasm', 'anthropic'] satisfies readonly (
  | BuiltInBackend
  | 'auto'
)[]
const isBackendOption = (value: unknown): boolean => backendNames.includes(value) || isBackendDefinition(value)

const isPlugin = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'configureWorker' in value && 'configureClient' in value

const isSink = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  ['append', 'reader', 'close'].every((method) => typeof Reflect.get(value, method) === 'function')

/** Accepts a configuration, and adds the defaults. */
export const configSchema = z.strictObject({
  tools: z.array(z.unknown()),
  agents: z.array(z.unknown()).default([]),
  credentials: credentialsOption.default({}),
  model: z
    .strictObject({
      name: modelNames.optional(),
      maxTokens: positiveInteger.default(8_192),
      contextWindow: z.int().min(1_000, 'is a number of tokens; at least 1,000').optional(),
      documentedTools: z.int().min(0).default(40),
      ...modelSettingFields,
      serverTools: z.unknown().optional(),
      instructions: z.string().optional(),
      idleTimeout: durationOption('60s'),
    })
    .prefault({}),
  providers: providersOption.default({}),
  models: modelsOption.default({}),
  sandbox: z
    .strictObject({
      backend: z
        .custom<BuiltInBackend | 'auto' | BackendDefinition>(
          isBackendOption,
          'must be "auto", "docker", "wasm", "anthropic" or the result of defineBackend',
        )
        .default('auto'),
      docker: z
        .strictObject({
          image: z.string().min(1).optional(),
          runtime: z.string().min(1).optional(),
          warm: z.int().min(0).optional(),
        })
        .prefault({}),
      wasm: z.strictObject({ warm: z.int().min(0).default(1) }).prefault({}),
    })
    .prefault({}),
  limits: limitsSchema.prefault({}),
  timeouts: z
    .strictObject({
      heartbeat: durationOption('10s'),
      host: durationOption('30s'),
      model: durationOption('10m'),
      open: durationOption('2m'),
      park: durationOption('60s'),
      idle: durationOption('270s'),
      shutdown: durationOption('10s'),
    })
    .prefault({}),
  sessions: z
    .strictObject({
      idle: durationOption('270s'),
      executions: positiveInteger.max(1_000, 'a Temporal workflow takes 2,000 updates; at most 1,000').default(1_000),
    })
    .prefault({}),
  compaction: compactionOption,
  snapshots: snapshotsOption,
  values: valuesOption.prefault({}),
  encryption: encryptionOption.optional(),
  redact: z.custom<Redact>((value) => typeof value === 'function', 'must be a function').optional(),
  approvals: approvalsOption.prefault({}),
  mode: z.enum(taskModes).default('answer'),
  budget: budgetSchema.optional(),
  audit: auditOption.optional(),
  stream: z.custom<StreamSink>(isSink, 'must be the result of fileStream or redisStream, or a StreamSink').optional(),
  tracing: z
    .custom<TracingPlugin>(isPlugin, 'must be the OpenTelemetryPlugin of @temporalio/interceptors-opentelemetry')
    .optional(),
  endpoints: z.strictObject({ metrics: listenAddress.optional(), health: listenAddress.optional() }).prefault({}),
  taskQueue: z.string().min(1).max(200).default(defaultTaskQueue),
})

type Parsed = z.output<typeof configSchema>

/** A checked configuration with all defaults. */
export interface ResolvedConfig {
  readonly runConfig: RunDefaults
  readonly tools: ConfiguredTools
  readonly credentials: Credentials
  readonly instructions: string | undefined
  /** Providers by name, with those that every configuration has. */
  readonly providers: Readonly<Record<string, ProviderOption>>
  readonly models: ModelFacts
  readonly idleTimeoutMs: number
  /** Milliseconds that running tools get after a shutdown request. */
  readonly shutdownMs: number
  readonly sandbox: Omit<Parsed['sandbox'], 'backend'> & {
    readonly backend: BackendChoice
    /** The custom backend of the configuration. It is used when `backend` is its name. */
    readonly customBackend: BackendDefinition | undefined
  }
  readonly values: ValuesSettings
  /** Undefined: neither payloads nor values are encrypted. */
  readonly encryption: KeyRing | undefined
  /** Never throws. */
  readonly redact: Redact
  /** Tells people of a call that needs approval. */
  readonly onApprovalRequest: ApprovalsOption['onRequest']
  readonly audit: AuditSettings | undefined
  readonly stream: StreamSink | undefined
  readonly tracing: TracingPlugin | undefined
  /** Addresses that `ptc worker` serves. */
  readonly endpoints: { readonly metrics?: string | undefined; readonly health?: string | undefined }
  readonly taskQueue: string
}

/**
 * @param source name of the file, for messages
 * @param baseDirectory folder of the file, the base of relative paths
 * @throws PtcError CONFIG_INVALID, TOOL_DUPLICATE, AGENT_DUPLICATE, TOOL_UNKNOWN of an agent; with sources of tools,
 *   `tools.open` throws the last two
 */
export function parseConfig(config: unknown, source: string, baseDirectory = process.cwd()): ResolvedConfig {
  const parsed = configSchema.safeParse(config)
  if (!parsed.success) {
    throw new PtcError(
      'CONFIG_INVALID',
      `${source} is not a valid configuration:\n${describeIssues(parsed.error, configSchema)}`,
      {
        hint: 'docs/reference/configuration.md lists all options.',
      },
    )
  }
  const {
    model,
    providers: configuredProviders,
    models: facts,
    sandbox,
    limits: configuredLimits,
    timeouts,
    sessions,
    compaction,
    snapshots,
    taskQueue,
    tools,
    agents,
    credentials,
    values,
    encryption,
    redact: hook,
    approvals,
    mode,
    budget,
    audit,
    stream,
    tracing,
    endpoints,
  } = parsed.data
  const customBackend = typeof sandbox.backend === 'string' ? undefined : sandbox.backend
  const backend = typeof sandbox.backend === 'string' ? sandbox.backend : sandbox.backend.name
  const redact = hook ? safeRedact(hook) : unredacted
  const providers = withBuiltInProviders(configuredProviders)
  const serverTools = parseServerTools(model.serverTools, providers, 'model')
  const settings = parseModelSettings(model, invalidSettings('model'), model.maxTokens)
  const models = configuredModel(model.name, providers)
  for (const name of Object.keys(facts)) configuredModel(name, providers, 'models')
  const checkTools = (registry: ToolRegistry): Agents => {
    checkCredentialNames(registry, Object.keys(credentials))
    return checkAgents(agents, registry, configuredLimits, providers, { ...settings, maxTokens: model.maxTokens })
  }
  return {
    runConfig: {
      sessions: { idleMs: sessions.idle, executions: sessions.executions },
      approvals: { expiresMs: approvals.expires },
      ...(compaction !== false && { compaction: compactionConfig(compaction, models, providers) }),
      ...(snapshots === false ? {} : { snapshots: snapshotConfig(snapshots) }),
      model: {
        ...models,
        maxTokens: model.maxTokens,
        ...defined({ contextWindow: model.contextWindow }),
        ...settings,
        ...serverTools,
      },
      backend,
      followUps: true,
      readMore: true,
      providerSearch: true,
      documentedTools: model.documentedTools,
      ...(mode !== 'answer' && { mode }),
      ...defined({ budget }),
      ...(hook && { isRedacted: true }),
      ...(audit && { isAudited: true }),
      limits: configuredLimits,
      timeouts: {
        heartbeatMs: timeouts.heartbeat,
        hostMs: timeouts.host,
        modelMs: timeouts.model,
        openMs: timeouts.open,
        parkMs: timeouts.park,
        idleMs: timeouts.idle,
      },
    },
    tools: configuredTools({ tools, agents, redact, check: checkTools }),
    credentials: createCredentials(credentials, baseDirectory),
    instructions: model.instructions,
    providers,
    models: facts,
    idleTimeoutMs: model.idleTimeout,
    shutdownMs: timeouts.shutdown,
    sandbox: { ...sandbox, backend, customBackend },
    values: valuesSettings(values, baseDirectory),
    encryption: encryption && new KeyRing(encryption),
    redact,
    onApprovalRequest: approvals.onRequest,
    audit: audit && auditSettings(audit, baseDirectory),
    stream,
    tracing,
    endpoints,
    taskQueue,
  }
}

/** @throws PtcError CONFIG_INVALID, AGENT_DUPLICATE, TOOL_UNKNOWN */
function checkAgents(
  definitions: readonly unknown[],
  registry: ToolRegistry,
  configured: Limits,
  providers: ResolvedConfig['providers'],
  configuredSettings: ModelSettings & { readonly maxTokens: number },
): Agents {
  const agents = createAgents(definitions, registry)
  for (const name of agents.names) {
    const { limits, budget, model, settings, serverTools } = agents.require(name)
    parseServerTools(serverTools, providers, `agent ${name}`)
    applyOverrides(configured, limits, `agent ${name}`)
    configuredModel(model, providers, `model of agent ${name}`)
    const fail = invalidSettings(`agent ${name}`)
    const merged = overrideSettings(configuredSettings, parseModelSettings(settings, fail))
    parseModelSettings(merged, fail, configuredSettings.maxTokens)
    const { error } = budgetSchema.safeParse(budget)
    if (error)
      throw new PtcError('CONFIG_INVALID', `the budget of agent ${name} is not valid:\n${z.prettifyError(error)}`)
  }
  return agents
}

function invalidSettings(where: string): (problem: string) => never {
  return (problem) => {
    const hint = 'docs/guides/models.md#temperature-thinking-and-effort describes them.'
    throw new PtcError('CONFIG_INVALID', `${where}: ${problem}`, { hint })
  }
}
