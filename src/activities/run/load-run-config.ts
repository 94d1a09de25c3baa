import { randomBytes } from 'node:crypto'
import { activityInfo } from '@temporalio/activity'
import { type Agents, toolNamesOf } from '../../agents/index.js'
import { type Budget, budgetItems } from '../../common/runs/budget.js'
import { failpoint } from '../../common/failpoint.js'
import { PtcError } from '../../common/errors.js'
import type { ModelConfig, ModelId, RunConfig, RunDefaults } from '../../common/runs/run-config.js'
import { type RunConfigInput, zeroUsage } from '../../common/runs/runs.js'
import { contextWindowOf } from '../../models/context-windows.js'
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
      const models = options.model ?? agent?.model
      const { fallbacks: _, ...settings } = defaults.model
      const model = models === undefined ? defaults.model : { ...settings, ...parseModelNames(models, providers) }
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
        model: {
          ...withContextWindows(model),
          ...(agent?.temperature !== undefined && { temperature: agent.temperature }),
        },
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

/** The windows of the models that have no configured one, where they are known. */
function withContextWindows(model: ModelConfig): ModelConfig {
  const { contextWindow: configured, fallbacks } = model
  const windowOf = (id: ModelId) => {
    const contextWindow = configured ?? contextWindowOf(id)
    return contextWindow === undefined ? {} : { contextWindow }
  }
  return {
    ...model,
    ...windowOf(model),
    ...(fallbacks && { fallbacks: fallbacks.map((id) => ({ ...id, ...windowOf(id) })) }),
  }
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
