import { resolve } from 'node:path'
import { z } from 'zod'
import { defined } from '../common/defined.js'
import { budgetSchema } from './options/budget.js'
import { environmentOption } from './options/environment.js'
import { languageOption } from './options/language.js'
import { checkDataFlow, dataFlowOption, type DataFlowSettings, toolsNamedIn } from './options/data-flow.js'
import { applyOverrides, limitsSchema } from './options/limits.js'
import { checkNetworkCredentials, networkOption, networkRules } from './options/network.js'
import { parseModelSettings } from '../models/options/model-settings.js'
import { type Agent, type Agents, createAgents, isAgent } from '../agents/index.js'
import { PtcError } from '../common/errors.js'
import { defaultLimits, type Limits } from '../common/run/limits.js'
import { type ModelSettings, overrideSettings } from '../common/agent/model-settings.js'
import { taskModes } from '../common/agent/task-modes.js'
import { defaultLanguageName, defaultTaskQueue } from '../common/names.js'
import { type Redact, safeRedact, unredacted } from '../common/text/redact.js'
import type { NetworkRules } from '../common/run/network.js'
import type { BackendChoice, RunDefaults } from '../common/run/run-config.js'
import type { ImageChoice } from '../common/run/sandbox-image.js'
import { imageFields } from '../sandbox/image-option.js'
import type { BackendDefinition } from '../sandbox/define-backend.js'
import { definedBackend, sandboxOption } from '../sandbox/option.js'
import type { Credentials } from '../tools/credentials/credentials.js'
import type { ToolRegistry } from '../tools/registry.js'
import { type ConfiguredSkills, configuredSkills } from '../skills/index.js'
import { skillsOption } from '../skills/option.js'
import { streamOption } from '../stream/option.js'
import { KeyRing } from '../values/encryption/key-ring.js'
import { isListenAddress } from '../platform/listen-address.js'
import { approvalsOption, type ApprovalsOption } from './options/approvals.js'
import { auditOption, type AuditSettings, auditSettings } from '../audit/option.js'
import { compactionConfig, compactionOption } from './options/compaction.js'
import { serverContainers } from './server-containers.js'
import { type ConfiguredTools, configuredTools } from './configured-tools.js'
import { mcpSource } from '../tools/sources/mcp/mcp-source.js'
import { mcpOption } from '../tools/sources/mcp/server-options.js'
import { openApiSource } from '../tools/sources/openapi/openapi-source.js'
import { openApiOption } from '../tools/sources/openapi/options.js'
import { checkCredentialNames, createCredentials, credentialsOption } from '../tools/credentials/option.js'
import type { TracingPlugin } from './define-config.js'
import { describeProblems } from './describe-problems.js'
import { durationOption } from '../platform/option-schemas.js'
import { encryptionOption } from '../values/encryption/option.js'
import {
  configuredModel,
  type ProviderOption,
  providersOption,
  withBuiltInProviders,
} from '../models/options/providers.js'
import { modelOption } from '../models/options/model.js'
import { modelsOption } from '../models/options/models.js'
import { parseServerTools } from '../models/options/server-tools.js'
import { fixedTimeouts, timeoutsOption } from './options/timeouts.js'
import { testSettingsOf } from './test-settings.js'
import { valuesOption, type ValuesSettings, valuesSettings } from '../values/option.js'

const listenAddress = z.string().refine(isListenAddress, 'must be an IP address and a port, such as "127.0.0.1:9464"')

const isPlugin = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'configureWorker' in value && 'configureClient' in value

/** Accepts a configuration, and adds the defaults. */
export const configSchema = z.strictObject({
  tools: z.array(z.unknown()),
  agents: z.array(z.unknown()).default([]),
  mcp: mcpOption.default({}),
  openapi: openApiOption.default({}),
  skills: skillsOption,
  credentials: credentialsOption.default({}),
  model: modelOption,
  providers: providersOption.default({}),
  models: modelsOption.default({}),
  sandbox: sandboxOption,
  language: languageOption.default(defaultLanguageName),
  files: z.boolean().optional(),
  environment: environmentOption.optional(),
  checkCode: z.literal(false, 'must be false, or left out').optional(),
  network: networkOption.optional(),
  limits: limitsSchema.prefault({}),
  timeouts: timeoutsOption,
  sessions: z.strictObject({ idle: durationOption('270s') }).prefault({}),
  compaction: compactionOption,
  snapshots: z.literal(false, 'must be false, or left out').optional(),
  values: valuesOption.prefault({}),
  encryption: encryptionOption.optional(),
  redact: z.custom<Redact>((value) => typeof value === 'function', 'must be a function').optional(),
  approvals: approvalsOption.prefault({}),
  mode: z.enum(taskModes).default('answer'),
  budget: budgetSchema.optional(),
  dataFlow: dataFlowOption.optional(),
  audit: auditOption.optional(),
  stream: streamOption.optional(),
  tracing: z
    .custom<TracingPlugin>(isPlugin, 'must be the OpenTelemetryPlugin of @temporalio/interceptors-opentelemetry')
    .optional(),
  endpoints: z.strictObject({ metrics: listenAddress.optional(), health: listenAddress.optional() }).prefault({}),
  taskQueue: z.string().min(1).max(200).default(defaultTaskQueue),
})

type Parsed = z.output<typeof configSchema>

/** A checked configuration with all defaults. */
export interface ResolvedConfig extends Pick<
  Parsed,
  'models' | 'stream' | 'tracing' | 'endpoints' | 'taskQueue' | 'language' | 'files' | 'environment'
> {
  readonly runConfig: RunDefaults
  readonly tools: ConfiguredTools
  readonly skills: ConfiguredSkills
  readonly credentials: Credentials
  /** Undefined: data may go anywhere. */
  readonly dataFlow: DataFlowSettings | undefined
  /** Undefined: the code of runs has no network, unless their agent has one. */
  readonly network: NetworkRules | undefined
  readonly instructions: string | undefined
  /** Providers by name, with those that every configuration has. */
  readonly providers: Readonly<Record<string, ProviderOption>>
  readonly idleTimeoutMs: number
  /** Milliseconds that running tools get after a shutdown request. */
  readonly shutdownMs: number
  readonly sandbox: Omit<Parsed['sandbox'], 'backend'> & {
    readonly backend: BackendChoice
    /** The images that agents have, besides that of the configuration. */
    readonly agentImages: readonly ImageChoice[]
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
      `${source} is not a valid configuration:\n${describeProblems(parsed.error, configSchema)}`,
      { hint: 'docs/reference/configuration.md lists all options.' },
    )
  }
  const { model, sandbox, timeouts, compaction, agents, tools, values, approvals, mode, budget, audit } = parsed.data
  const {
    encryption,
    redact: hook,
    stream,
    tracing,
    endpoints,
    taskQueue,
    models: facts,
    dataFlow,
    language,
    environment,
  } = parsed.data
  const settingsOfTest = testSettingsOf(config)
  const limits = applyOverrides(defaultLimits, parsed.data.limits)
  const customBackend = definedBackend(sandbox)
  const backend = typeof sandbox.backend === 'string' ? sandbox.backend : sandbox.backend.name
  const redact = hook ? safeRedact(hook) : unredacted
  const providers = withBuiltInProviders(parsed.data.providers)
  const serverTools = parseServerTools(model.serverTools, providers, 'model')
  const settings = parseModelSettings(model, invalidSettings('model'), model.maxTokens)
  const models = configuredModel(model.name, providers)
  for (const name of Object.keys(facts)) configuredModel(name, providers, 'models')
  const checkTools = (registry: ToolRegistry): Agents => {
    checkCredentialNames(registry, Object.keys(parsed.data.credentials))
    if (dataFlow) checkDataFlow(dataFlow, registry)
    const checked = checkAgents(agents, registry, limits, providers, { ...settings, maxTokens: model.maxTokens })
    checkNetworks(checked, Object.keys(parsed.data.credentials))
    return checked
  }
  if (parsed.data.network)
    checkNetworkCredentials(parsed.data.network, Object.keys(parsed.data.credentials), 'the configuration')
  const credentials = createCredentials(parsed.data.credentials, baseDirectory)
  const openContainer = serverContainers({
    ...sandbox.docker,
    ...defined({ image: sandbox.image, packages: sandbox.packages }),
    limits,
  })
  const keys = encryption && new KeyRing(encryption)
  const valueSettings = valuesSettings(values, baseDirectory)
  const tokenSettings = { store: valueSettings.store, keys }
  const servers = Object.entries(parsed.data.mcp).map(([name, server]) =>
    mcpSource({ name, server, credentials, folder: baseDirectory, openContainer, tokenSettings }),
  )
  const apis = Object.entries(parsed.data.openapi).map(([name, source]) =>
    openApiSource({ name, source, credentials, folder: baseDirectory }),
  )
  return {
    runConfig: {
      sessions: { idleMs: parsed.data.sessions.idle },
      approvals: { expiresMs: approvals.expires },
      ...(compaction !== false && { compaction: compactionConfig(compaction, models, providers) }),
      ...(parsed.data.checkCode !== false && { checksCode: true }),
      ...(parsed.data.snapshots !== false && { snapshots: settingsOfTest.snapshots ?? {} }),
      model: {
        ...models,
        maxTokens: model.maxTokens,
        ...defined({ contextWindow: model.contextWindow }),
        ...settings,
        ...serverTools,
      },
      backend,
      documentedTools: model.documentedTools,
      ...(mode !== 'answer' && { mode }),
      ...defined({ budget }),
      ...(hook && { isRedacted: true }),
      ...(audit && { isAudited: true }),
      limits,
      ...defined({ loweredLimits: settingsOfTest.limits }),
      timeouts: {
        ...fixedTimeouts,
        ...settingsOfTest.timeouts,
        modelMs: timeouts.model,
        parkMs: timeouts.park,
        idleMs: timeouts.idle,
      },
    },
    skills: configuredSkills(parsed.data.skills, baseDirectory),
    tools: configuredTools({
      tools: [...tools, ...servers, ...apis],
      agents,
      redact,
      check: checkTools,
      named: dataFlow ? toolsNamedIn(dataFlow) : [],
    }),
    credentials,
    dataFlow,
    network: parsed.data.network,
    instructions: model.instructions,
    providers,
    models: facts,
    language,
    files: parsed.data.files,
    environment,
    idleTimeoutMs: model.idleTimeout,
    shutdownMs: timeouts.shutdown,
    sandbox: {
      ...sandbox,
      backend,
      customBackend,
      agentImages: imagesOf(agents),
      wasm: sandbox.wasm.wheels === undefined ? {} : { wheels: resolve(baseDirectory, sandbox.wasm.wheels) },
    },
    values: { ...valueSettings, ...defined({ retryForMs: settingsOfTest.retryForMs }) },
    encryption: keys,
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
    const { limits, budget, model, settings, serverTools, environment } = agents.require(name)
    parseServerTools(serverTools, providers, `agent ${name}`)
    applyOverrides(configured, limits, `agent ${name}`)
    configuredModel(model, providers, `model of agent ${name}`)
    const fail = invalidSettings(`agent ${name}`)
    const merged = overrideSettings(configuredSettings, parseModelSettings(settings, fail))
    parseModelSettings(merged, fail, configuredSettings.maxTokens)
    const problem = environmentOption.optional().safeParse(environment).error
    if (problem)
      throw new PtcError('CONFIG_INVALID', `environment of agent ${name} is not valid:\n${z.prettifyError(problem)}`)
    const { error } = budgetSchema.safeParse(budget)
    if (error)
      throw new PtcError('CONFIG_INVALID', `the budget of agent ${name} is not valid:\n${z.prettifyError(error)}`)
  }
  return agents
}

/** @throws PtcError CONFIG_INVALID */
function imagesOf(definitions: readonly unknown[]): readonly ImageChoice[] {
  return definitions.filter(isAgent).flatMap((agent) =>
    withSessions(agent).flatMap(({ where, image }) => {
      if (image === undefined) return []
      const { error } = z.strictObject(imageFields).safeParse(image)
      if (!error) return [image]
      throw new PtcError('CONFIG_INVALID', `the image of ${where} is not valid:\n${z.prettifyError(error)}`)
    }),
  )
}

/** The sandboxes of an agent: its own, and its further ones. */
function withSessions({ name, image, network, sessions }: Agent) {
  const where = `agent ${name}`
  return [
    { where, image, network },
    ...sessions.map((each) => ({ ...each, where: `session ${each.name} of ${where}` })),
  ]
}

/** @throws PtcError CONFIG_INVALID */
function checkNetworks(agents: Agents, credentials: readonly string[]): void {
  for (const name of agents.names) {
    for (const { network, where } of withSessions(agents.require(name)))
      if (network) checkNetworkCredentials(networkRules(network, where), credentials, where)
  }
}

function invalidSettings(where: string): (problem: string) => never {
  return (problem) => {
    const hint = 'docs/guides/models.md#temperature-thinking-and-effort describes them.'
    throw new PtcError('CONFIG_INVALID', `${where}: ${problem}`, { hint })
  }
}
