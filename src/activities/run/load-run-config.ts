import { randomBytes } from 'node:crypto'
import { activityInfo } from '@temporalio/activity'
import { type Agent, type Agents, toolNamesOf } from '../../agents/index.js'
import { type Budget, budgetItems } from '../../common/runs/budget.js'
import { failpoint } from '../../common/failpoint.js'
import { PtcError } from '../../common/errors.js'
import { overrideSettings, problemOfSettings } from '../../common/runs/model-settings.js'
import type { ModelConfig, ModelId, RunConfig, RunDefaults } from '../../common/runs/run-config.js'
import { type RunConfigInput, zeroUsage } from '../../common/runs/runs.js'
import { costOf } from '../../models/prices.js'
import type { SearchAttributeName } from '../../common/runs/search-attributes.js'
import { parseModelNames } from '../../models/model-name.js'
import type { StreamPublisher } from '../../stream/index.js'
import type { ToolRegistry } from '../../tools/registry.js'
import type { Values } from '../../values/values.js'
import { runActivity } from '../run-activity.js'
import { applyOverrides } from '../limits-schema.js'
import { checkRunOptions } from '../run-options-schema.js'
import { describeInput } from './describe-input.js'
import { recordToolSet } from './tool-set.js'

/** The search attributes that runs may set on this server. Never rejects. */
export type SearchAttributeLookup = () => Promise<readonly SearchAttributeName[]>

/** What a worker's configuration has for its runs. */
export interface RunConfiguration {
  readonly defaults: RunDefaults
  readonly registry: ToolRegistry
  readonly agents: Agents
  /** Names of the model providers. */
  readonly providers: readonly string[]
  /** Of runs without an agent. */
  readonly instructions: string | undefined
}

/** Activity `run.config`: the configuration of this worker with the agent and the overrides of the run. */
export function loadRunConfig(
  { defaults, registry, agents, providers, instructions }: RunConfiguration,
  values: Values,
  lookUpSearchAttributes: SearchAttributeLookup,
  stream?: StreamPublisher,
) {
  return (options: RunConfigInput): Promise<RunConfig> =>
    runActivity(async ({ signal, workflowId, runId, attempt }) => {
      checkRunOptions(options)
      const agent = options.agent === undefined ? undefined : agents.require(options.agent)
      const tools = chooseTools(registry, agent && toolNamesOf(agent), options.tools)
      const model = modelOf(defaults.model, agent, options, providers)
      const runInstructions = agent?.instructions ?? instructions?.trim()
      const publish = stream?.attempt({ workflowId, runId, attempt, unit: 'run' })
      publish?.({ type: 'run.begins', model: model.name, ...(agent && { agent: agent.name }) })
      const { context, input } = options
      const budget = budgetOf(model, defaults.budget, agent?.budget, options.budget)
      const [toolSet, searchAttributes] = await Promise.all([
        recordToolSet(tools, values, signal, tools === registry ? undefined : tools.names),
        lookUpSearchAttributes(),
      ])
      const runConfig: RunConfig = {
        ...defaults,
        tools: tools.toolConfigs(),
        toolSet,
        model,
        backend: options.sandbox ?? defaults.backend,
        limits: applyOverrides(applyOverrides(defaults.limits, agent?.limits ?? {}), options.limits ?? {}),
        searchAttributes,
        namespace: activityInfo().namespace,
        ...(tools.toolConfigs().some(({ deferred, approval }) => deferred ?? approval) && {
          completionSecret: randomBytes(32).toString('hex'),
        }),
        ...(agent && { agentName: agent.name }),
        ...(budget && { budget }),
        ...(runInstructions && { instructions: await values.externalize(runInstructions, signal) }),
        ...(agent?.outputSchema && { outputSchema: await values.externalize(agent.outputSchema, signal) }),
        ...(context && { context }),
        ...(input !== undefined && {
          input: { value: await values.externalize(input, signal), description: describeInput(input) },
        }),
      }
      failpoint('config.loaded')
      return runConfig
    })
}

/**
 * The model of a run, and its settings: those of the configuration, the agent and the run, the later ones first.
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
  const model = {
    ...overrideSettings(overrideSettings(named, agent?.settings ?? {}), options),
    ...(agent?.serverTools && { serverTools: agent.serverTools }),
  }
  const problem = problemOfSettings(model, model.maxTokens)
  if (problem !== undefined) throw new PtcError('RUN_INPUT_INVALID', problem)
  return model
}

/**
 * The cost of other providers is known only from their replies: without one, the budget counts as spent.
 *
 * @throws PtcError RUN_INPUT_INVALID for a budget of the cost of a model whose price is unknown
 */
function budgetOf({ provider, name }: ModelId, ...budgets: readonly (Budget | undefined)[]): Budget | undefined {
  const budget: Budget = Object.assign({}, ...budgets)
  if (budget.costUsd !== undefined && provider === 'anthropic' && costOf(name, zeroUsage) === null) {
    throw new PtcError('RUN_INPUT_INVALID', `the price of ${name} is unknown, so its cost has no budget`, {
      hint: 'Give a budget of tokens or turns.',
    })
  }
  return budgetItems.some((item) => budget[item] !== undefined) ? budget : undefined
}

/** The tools that the run asks for, of those that its agent has. */
function chooseTools(
  registry: ToolRegistry,
  ofAgent: readonly string[] | undefined,
  requested: readonly string[] | undefined,
): ToolRegistry {
  const available = ofAgent ? registry.subset(ofAgent) : registry
  if (requested === undefined) return available
  const missing = requested.find((name) => registry.get(name) !== undefined && available.get(name) === undefined)
  if (missing === undefined) return registry.subset(available.subset(requested).names)
  throw new PtcError('TOOL_UNKNOWN', `the agent does not have tool ${missing}`, {
    hint: `It has: ${available.names.join(', ')}.`,
  })
}
