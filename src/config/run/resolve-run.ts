import { type Agent, type Agents, toolNamesOf, withoutClones } from '../../agents/index.js'
import { type Budget, budgetItems } from '../../common/budget/budget.js'
import { defined } from '../../common/defined.js'
import { PtcError } from '../../common/errors.js'
import type { JsonObject } from '../../common/json/json.js'
import { budgetWithin } from '../../common/budget/leases.js'
import { workflowNames } from '../../common/names.js'
import { type EnvironmentConfig, withEnvironment } from '../../common/run/environment.js'
import { problemOfClientOptions } from './client-options.js'
import { hostedBackend } from '../../common/agent/hosted-code.js'
import { type ModelSettings, overrideSettings, problemOfSettings } from '../../common/agent/model-settings.js'
import type { BackendChoice, ModelConfig, ModelId, RunConfig, RunDefaults } from '../../common/run/run-config.js'
import { sharesSandbox } from '../../common/calls/tool-config.js'
import type { NetworkRules } from '../../common/run/network.js'
import type { SessionOwner } from '../../common/run/run-config.js'
import type { RecordedMode } from '../../common/agent/task-modes.js'
import { type CloneOptions, type RunConfigInput, zeroUsage } from '../../common/run/runs.js'
import { contextWindowOf } from '../../models/facts/context-windows.js'
import { costOf } from '../../models/facts/prices.js'
import { configuredCost, configuredWindow, type ModelFacts } from '../../models/facts/model-facts.js'
import { defaultProvider, parseModelNames } from '../../models/facts/model-name.js'
import { clientRegistry, withoutPatterns } from '../../tools/sources/client-tools.js'
import type { ToolSetOrigin } from '../../tools/sources/tool-set.js'
import type { ToolRegistry } from '../../tools/registry.js'
import { type DataFlowSettings, dataFlowOfRun } from '../options/data-flow.js'
import { applyOverrides } from '../options/limits.js'
import type { ChosenSkills, Skill } from '../../skills/index.js'
import { checkHostedCode } from './check-hosted-code.js'
import { checkEnvironment, chosenEnvironment } from './environment.js'
import { checkLanguage, chosenLanguage, sharedLanguage } from './language.js'
import { filesOf } from './files.js'
import { heldSessionsOf } from './held-sessions.js'
import { chosenImage, imageBackend } from './image.js'
import { chooseNetwork, type NetworkConfiguration } from './choose-network.js'
import { chooseSkills } from './choose-skills.js'
import { checkRunOptions } from './run-options.js'

/** The parts of a worker's configuration for runs. */
export interface RunConfiguration extends NetworkConfiguration {
  readonly defaults: RunDefaults
  readonly registry: ToolRegistry
  readonly agents: Agents
  /** Names of the model providers. */
  readonly providers: readonly string[]
  /** Names of the providers that execute code at their API. */
  readonly hostingProviders: readonly string[]
  /** Facts about models in the configuration. */
  readonly models: ModelFacts
  readonly dataFlow: DataFlowSettings | undefined
  /** Instructions of runs without an agent. */
  readonly instructions: string | undefined
  /** Name of the language of runs that ask for none. */
  readonly language: string
  /** Of runs whose agent says nothing. Undefined: none. */
  readonly environment: EnvironmentConfig | undefined
  /** The skills of the configuration, in the order of their names. */
  readonly skills: readonly Skill[]
  /** Runs have files, unless their agent says otherwise. Undefined: only those of which an agent or a client says so. */
  readonly files?: boolean | undefined
  /** Names of backends whose sandboxes can't have files. */
  readonly backendsWithoutFiles: readonly string[]
  /** The backend of runs that ask for none, where this process knows it. */
  readonly preferredBackend?: BackendChoice | undefined
}

/** The workflow of a run. */
export interface StartedWorkflow {
  readonly workflowType: string | undefined
  readonly workflowId: string | undefined
}

/** The configuration of a run, before its parts are stored. */
export interface ResolvedRun {
  readonly config: Omit<RunConfig, 'toolSet' | 'searchAttributes' | 'namespace' | 'skills' | 'network'>
  readonly skills: ChosenSkills
  readonly network: NetworkRules | undefined
  readonly tools: ToolRegistry
  readonly toolSetOrigin: ToolSetOrigin
  readonly instructions: string | undefined
  readonly outputSchema: JsonObject | undefined
}

/**
 * Resolves the configuration of a run: the options of the run come before those of its agent, and these before those of
 * the configuration.
 *
 * @throws PtcError RUN_INPUT_INVALID, AGENT_UNKNOWN, TOOL_UNKNOWN, MODEL_NOT_FOUND, CONFIG_INVALID,
 *   SANDBOX_UNAVAILABLE, SANDBOX_FILES_UNSUPPORTED, SANDBOX_NETWORK_UNSUPPORTED
 */
export function resolveRun(
  configuration: RunConfiguration,
  options: RunConfigInput,
  workflow: StartedWorkflow,
): ResolvedRun {
  const { defaults, agents, providers, hostingProviders, models, dataFlow, instructions } = configuration
  checkRunOptions(options)
  const { clientTools, isPlain, context, input, lease } = options
  const agent = options.agent === undefined ? undefined : agents.require(options.agent)
  if (clientTools && options.tools) throw new PtcError('RUN_INPUT_INVALID', 'tools and clientTools exclude each other')
  const problem = problemOfClientOptions(options)
  if (problem !== undefined) throw new PtcError('RUN_INPUT_INVALID', problem)
  const chosen = chosenLanguage(options, agent, configuration.language)
  const { workflowType } = workflow
  const environment = chosenEnvironment(
    options,
    agent,
    configuration.environment,
    workflowType,
    sharedLanguage(options),
  )
  const language = environment || options.environment ? withEnvironment(chosen) : chosen
  const registry = configuration.registry.current.inLanguage(language)
  const tools = clientTools
    ? clientRegistry(clientTools, registry.redact).inLanguage(language)
    : chooseTools(registry, availableTools(registry, agent, options, workflow), options.tools)
  const model = modelOf(defaults.model, agent, options, providers)
  const { mode: defaultMode, ...allDefaults } = defaults
  const task = taskOf(options, agent, defaultMode, tools, workflow)
  // A run without code never opens a sandbox.
  const requested = isPlain ? 'auto' : (options.sandbox ?? defaults.backend)
  const image = isPlain ? undefined : chosenImage(options, agent, requested)
  const backend = image === undefined ? requested : imageBackend
  // Where this process knows the sandbox of the run, it refuses now what the sandbox can't have.
  const hasOwnSandbox = !isPlain && options.session === undefined
  const used = backend === 'auto' && hasOwnSandbox ? (configuration.preferredBackend ?? backend) : backend
  checkEnvironment(environment, language, used, tools)
  checkLanguage(language, used)
  if (backend === hostedBackend)
    checkHostedCode(
      { model, tools, hasInput: input !== undefined, hasClientTools: clientTools !== undefined, mode: task.mode },
      hostingProviders,
    )
  const owner = sessionOwnerOf(options, tools, backend, workflow)
  const isConfigured = owner?.type !== 'named' || language === configuration.language
  const limits = applyOverrides(applyOverrides(defaults.limits, agent?.limits), options.limits)
  const sessionOwner = isConfigured ? owner : { ...owner, language }
  const { tmpBytes } = limits
  const ofFiles = { tools: tools.toolConfigs(), backend: used, language, sessionOwner, tmpBytes }
  const files = filesOf(configuration, options, agent, ofFiles)
  const skills = chooseSkills(configuration, options, agent, {
    ...workflow,
    backend: used,
    language,
    tools,
    ...task,
    sessionOwner,
  })
  const network = isPlain ? undefined : chooseNetwork(configuration, options, agent, { backend: used, sessionOwner })
  const has = { hasEnvironment: environment !== undefined, hasFiles: files !== undefined }
  const own = { backend, used, language: chosen, tools, ...has }
  const hasHeldSessions = agent !== undefined && !isPlain && modelWorkflows.includes(workflowType)
  const heldSessions = hasHeldSessions ? heldSessionsOf(configuration, agent, options, own) : undefined
  const amounts = { ...defaults.budget, ...agent?.budget, ...options.budget }
  const budget = checkBudget(models, model, lease ? budgetWithin(amounts, lease.amounts) : amounts)
  return {
    config: {
      ...(isPlain ? withoutEngineTools(allDefaults) : allDefaults),
      tools: tools.toolConfigs(),
      language: tools.language,
      model: withContextWindows(models, model),
      backend,
      limits,
      ...defined({ agentName: agent?.name, environment }),
      ...task,
      ...defined({ budget, dataFlow: dataFlowOfRun(dataFlow, tools) }),
      ...(isPlain && { isPlain }),
      ...defined({ image, context, sessionOwner, heldSessions, files, clone: cloneOptionsOf(options, tools) }),
    },
    skills,
    network,
    tools,
    toolSetOrigin: clientTools
      ? { source: { kind: 'client', definition: clientTools } }
      : tools === registry
        ? {}
        : { names: tools.names },
    instructions: options.instructions ?? agent?.instructions ?? instructions?.trim(),
    outputSchema: options.outputSchema
      ? withoutPatterns(options.outputSchema)
      : options.isClone
        ? undefined
        : agent?.outputSchema,
  }
}

/** Workflows with a model: their tools may start clones, and their code may name a session. */
const modelWorkflows: readonly (string | undefined)[] = [workflowNames.agent, workflowNames.conversation]

function availableTools(
  registry: ToolRegistry,
  agent: Agent | undefined,
  { isClone }: RunConfigInput,
  { workflowType }: StartedWorkflow,
): readonly string[] {
  const names = toolNamesOf(registry, agent)
  return isClone || !modelWorkflows.includes(workflowType) ? withoutClones(registry, names) : names
}

/** Returns undefined for a run without a tool that starts clones. */
function cloneOptionsOf(options: RunConfigInput, tools: ToolRegistry): CloneOptions | undefined {
  const cloneless = withoutClones(tools, tools.names)
  if (cloneless.length === tools.names.length) return undefined
  const { agent, model, limits, network, instructions, maxTokens, temperature, thinking, effort } = options
  const settings = { temperature, thinking, effort } satisfies { [Key in keyof Required<ModelSettings>]: unknown }
  return {
    ...defined({ agent, model, limits, network, instructions, maxTokens, ...settings }),
    // A clone never has more tools than the run.
    ...(options.tools && { tools: cloneless }),
    isClone: true,
  }
}

/** Removes options that need tools of the engine, and options that change the messages. */
function withoutEngineTools(defaults: Omit<RunDefaults, 'mode'>): Omit<RunDefaults, 'mode'> {
  const { compaction: _, documentedTools: __, ...others } = defaults
  return others
}

/**
 * Adds the context window of each model: configured for the model, configured for all models, or known for the model.
 */
function withContextWindows(facts: ModelFacts, model: ModelConfig): ModelConfig {
  const { contextWindow: ofAll, fallbacks } = model
  const windowOf = (id: ModelId) => {
    const contextWindow = configuredWindow(facts, id) ?? ofAll ?? contextWindowOf(id)
    return contextWindow === undefined ? {} : { contextWindow }
  }
  return {
    ...model,
    ...windowOf(model),
    ...(fallbacks && { fallbacks: fallbacks.map((id) => ({ ...id, ...windowOf(id) })) }),
  }
}

/**
 * Returns the owner of the session that the run uses; undefined for its own session.
 *
 * @throws PtcError RUN_INPUT_INVALID
 */
function sessionOwnerOf(
  { session: name, sandboxOwner, sandbox, input, clientTools }: RunConfigInput,
  tools: ToolRegistry,
  backend: BackendChoice,
  { workflowType, workflowId }: StartedWorkflow,
): SessionOwner | undefined {
  const invalid = (message: string, hint: string) => new PtcError('RUN_INPUT_INVALID', message, { hint })
  const sharing = tools.toolConfigs().find(sharesSandbox)
  if (sharing && backend === hostedBackend)
    throw invalid(`sub-agent ${sharing.name} can't use the sandbox ${hostedBackend}`, 'Choose another sandbox.')
  if (sandboxOwner) {
    if (sandboxOwner.workflowId === workflowId)
      throw invalid('the run is bound to its own sandbox', 'Only a sub-agent uses the sandbox of another run.')
    return { type: 'parent', ...sandboxOwner }
  }
  if (name === undefined) return undefined
  if (workflowType !== workflowNames.agent && workflowType !== workflowNames.conversation)
    throw invalid(`workflow ${workflowType} can't be bound to a session`, 'Execute code in it: `ptc exec --session`.')
  if (backend === hostedBackend)
    throw invalid(`the sandbox ${hostedBackend} has no named sessions`, 'Choose another sandbox, or no session.')
  if (clientTools !== undefined)
    throw invalid(`code in session ${name} can't call client tools`, 'It calls the tools of the session.')
  if (input !== undefined)
    throw invalid(`a run in session ${name} has no \`input_data\` of its own`, 'Give the data to the session.')
  return { type: 'named', name, ...(sandbox !== undefined && sandbox !== 'auto' && { sandbox }) }
}

/**
 * Returns the mode of an agent run. A configured mode does not apply to other workflows.
 *
 * @throws PtcError RUN_INPUT_INVALID, TOOL_UNKNOWN
 */
function taskOf(
  { mode: chosen, isClone }: RunConfigInput,
  agent: Agent | undefined,
  configured: RecordedMode | undefined,
  tools: ToolRegistry,
  { workflowType }: StartedWorkflow,
): Pick<RunConfig, 'mode' | 'doneCheck'> {
  // A part of the work is neither planned nor checked as the whole.
  if (isClone) return {}
  const mode = chosen ?? agent?.mode
  if (workflowType !== workflowNames.agent) {
    if (mode === undefined || mode === 'answer') return {}
    const owner = chosen === undefined ? `agent ${agent?.name ?? ''} has` : 'the run has'
    throw new PtcError('RUN_INPUT_INVALID', `${owner} mode ${mode}, which workflow ${workflowType} can't work in`, {
      hint: `Only workflow ${workflowNames.agent} has modes. A conversation answers each of its messages.`,
    })
  }
  const recorded = mode ?? configured
  if (recorded === undefined || recorded === 'answer') return {}
  const doneCheck = recorded === 'autonomous' ? agent?.doneCheck : undefined
  if (doneCheck === undefined) return { mode: recorded }
  if (tools.get(doneCheck)) return { mode: recorded, doneCheck }
  throw new PtcError('TOOL_UNKNOWN', `the run lacks tool ${doneCheck}, which checks whether its work is done`, {
    hint: `Add ${doneCheck} to the tools of the run.`,
  })
}

/**
 * Returns the model of a run with its settings. Settings of the run come before those of the agent, and these before
 * those of the configuration.
 *
 * @throws PtcError MODEL_NOT_FOUND, RUN_INPUT_INVALID
 */
function modelOf(
  configured: ModelConfig,
  agent: Agent | undefined,
  options: RunConfigInput,
  providers: readonly string[],
): ModelConfig {
  const names = options.model ?? agent?.model
  const { fallbacks: _, ...base } = configured
  const named = names === undefined ? configured : { ...base, ...parseModelNames(names, providers) }
  const { maxTokens, toolChoice, stopSequences } = options
  const model = {
    ...overrideSettings(overrideSettings(named, agent?.settings ?? {}), options),
    ...(agent?.serverTools && { serverTools: agent.serverTools }),
    ...defined({ maxTokens, toolChoice, stopSequences }),
  }
  const problem = problemOfSettings(model, model.maxTokens)
  if (problem !== undefined) throw new PtcError('RUN_INPUT_INVALID', problem)
  return model
}

/**
 * Returns the budget of a run, if it has one. A budget of the cost needs a known price. The cost of other providers is
 * known only from their replies; after a reply without a cost, the budget counts as spent.
 *
 * @throws PtcError RUN_INPUT_INVALID for a budget of the cost when the price of the model is unknown
 */
function checkBudget(facts: ModelFacts, model: ModelId, budget: Budget): Budget | undefined {
  const { provider, name } = model
  const isPriced = provider !== defaultProvider || costOf(name, zeroUsage) !== null
  if (budget.costUsd !== undefined && !isPriced && configuredCost(facts, model, zeroUsage) === undefined) {
    throw new PtcError('RUN_INPUT_INVALID', `the price of ${name} is unknown, so its cost has no budget`, {
      hint: 'Give a budget of tokens or turns, or the price in `models` of the configuration.',
    })
  }
  return budgetItems.some((item) => budget[item] !== undefined) ? budget : undefined
}

/**
 * Returns the tools that the run asks for.
 *
 * @param names names of the tools that the run may have
 */
function chooseTools(
  registry: ToolRegistry,
  names: readonly string[],
  requested: readonly string[] | undefined,
): ToolRegistry {
  const available = registry.subset(names)
  if (requested === undefined) return available
  const missing = requested.find((name) => registry.get(name) !== undefined && available.get(name) === undefined)
  if (missing === undefined) return registry.subset(available.subset(requested).names)
  throw new PtcError('TOOL_UNKNOWN', `the agent does not have tool ${missing}`, {
    hint: `It has: ${available.names.join(', ')}.`,
  })
}
