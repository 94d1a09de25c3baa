import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MockActivityEnvironment } from '@temporalio/testing'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { runConfiguration, runDefaults } from '../../../test/support/run-configuration.js'
import { tool } from '../../../test/support/tools.js'
import { createAgents, defineAgent } from '../../agents/index.js'
import { isExternal } from '../../common/json/external-value.js'
import type { RunConfig, RunDefaults } from '../../common/run/run-config.js'
import type { RunConfigInput } from '../../common/run/runs.js'
import type { ModelFacts } from '../../models/facts/model-facts.js'
import { createRegistry } from '../../tools/registry.js'
import { LocalStore } from '../../values/local/local-store.js'
import { Values } from '../../values/values.js'
import { loadRunConfig } from './load-run-config.js'
import { findRunTools } from '../../tools/sources/tool-set.js'

const folder = mkdtempSync(join(tmpdir(), 'ptc-'))
const values = new Values({ store: new LocalStore(folder) })
afterAll(() => rmSync(folder, { recursive: true }))

const lookup = tool('lookup', () => null)
const analyst = defineAgent({
  name: 'analyst',
  instructions: 'You analyse.',
  tools: [lookup, 'add_up'],
  model: 'small',
  temperature: 0,
  output: z.object({ total: z.int() }),
  limits: { turns: 7, cellSeconds: 9 },
})
const isDone = tool('is_done', () => ({ done: true }), { output: z.object({ done: z.boolean() }) })
const fixer = defineAgent({ name: 'fixer', instructions: 'You fix.', mode: 'autonomous', doneCheck: isDone })
const registry = createRegistry([lookup, tool('pay', () => null), tool('add_up', () => null), isDone])
const agents = createAgents([analyst, fixer], registry)

interface LoadOptions {
  readonly workflowType?: string
  readonly mode?: RunDefaults['mode']
  readonly contextWindow?: number
  readonly models?: ModelFacts
  readonly language?: string
}

async function load(
  options: RunConfigInput,
  { workflowType = 'agent', mode, contextWindow, models = {}, language = 'python' }: LoadOptions = {},
): Promise<RunConfig> {
  const model = { ...runDefaults.model, ...(contextWindow !== undefined && { contextWindow }) }
  const configuration = runConfiguration(registry, agents, {
    defaults: { ...runDefaults, model, ...(mode && { mode }) },
    providers: ['anthropic', 'local'],
    models,
    instructions: 'You help.',
    language,
  })
  const activity = loadRunConfig(configuration, values, () => Promise.resolve([]))
  const config: RunConfig = await new MockActivityEnvironment({ workflowType }).run(() => activity(options))
  return config
}

it('a run without an agent records all tools and the instructions of the configuration', async () => {
  const config = await load({})
  expect(config).toMatchObject({ instructions: 'You help.', model: { name: 'large', maxTokens: 100 } })
  expect(config.model).not.toHaveProperty('temperature')
  expect(config.tools.map(({ name }) => name)).toEqual(['lookup', 'pay', 'add_up', 'is_done'])
  expect(config.toolSet.digest).toBe(registry.digest)
  expect(config).not.toHaveProperty('agentName')
  expect(config.toolSet).not.toHaveProperty('names')
})

it('a run records the context window of each model that has a known or configured one', async () => {
  const model = ['claude-sonnet-5-5', 'claude-haiku-4-5', 'local/claude-sonnet-5-5']
  const known = { provider: 'anthropic', name: 'claude-haiku-4-5', contextWindow: 200_000 }
  const unknown = { provider: 'local', name: 'claude-sonnet-5-5' }
  expect((await load({ model })).model).toMatchObject({ contextWindow: 1_000_000, fallbacks: [known, unknown] })
  expect((await load({ model })).model.fallbacks?.[1]).toEqual(unknown)
  expect((await load({})).model).not.toHaveProperty('contextWindow')
  expect((await load({ model }, { contextWindow: 50_000 })).model).toMatchObject({
    contextWindow: 50_000,
    fallbacks: [
      { ...known, contextWindow: 50_000 },
      { ...unknown, contextWindow: 50_000 },
    ],
  })
})

it('windows and prices of models of each provider come from the configuration', async () => {
  const price = { input: 1, output: 2 }
  const models: ModelFacts = {
    'local/qwen': { contextWindow: 32_000 },
    'claude-sonnet-5-5': { contextWindow: 9_000 },
    'anthropic/large': { price },
  }
  const model = ['local/qwen', 'claude-sonnet-5-5', 'local/other']
  const { model: found } = await load({ model }, { models, contextWindow: 50_000 })
  expect([found, ...(found.fallbacks ?? [])].map(({ contextWindow }) => contextWindow)).toEqual([32_000, 9_000, 50_000])
  const budget = { costUsd: 1 }
  await expect(load({ budget })).rejects.toMatchObject({ type: 'RUN_INPUT_INVALID' })
  expect(await load({ budget }, { models })).toMatchObject({ budget })
})

it('a run records its agent, and the overrides of the run take precedence', async () => {
  const config = await load({ agent: 'analyst', limits: { turns: 3 }, tools: ['add_up'] })
  expect(config).toMatchObject({
    agentName: 'analyst',
    instructions: 'You analyse.',
    model: { name: 'small', temperature: 0 },
    limits: { turns: 3, cellSeconds: 9 },
    outputSchema: { properties: { total: { type: 'integer' } } },
    toolSet: { names: ['add_up'] },
  })
  expect(config.tools.map(({ name }) => name)).toEqual(['add_up'])
  const found = findRunTools(registry, config.toolSet)
  expect(found).toMatchObject({ registryMatchesRun: true, registry: { names: ['add_up'] } })
  expect(findRunTools(registry, { digest: config.toolSet.digest, names: ['gone'] }).registryMatchesRun).toBe(false)
  expect((await load({ agent: 'analyst', model: 'local/org/mine' })).model).toEqual({
    provider: 'local',
    name: 'org/mine',
    maxTokens: 100,
    temperature: 0,
  })
})

it('a run records fallbacks in the order of the list of models', async () => {
  expect((await load({ model: ['local/a', 'b', 'local/c'] })).model).toEqual({
    provider: 'local',
    name: 'a',
    maxTokens: 100,
    fallbacks: [
      { provider: 'anthropic', name: 'b' },
      { provider: 'local', name: 'c' },
    ],
  })
})

it('a run records the settings of the model from the run, the agent, and the configuration', async () => {
  expect((await load({ thinking: 'adaptive', effort: 'low' })).model).toMatchObject({
    thinking: 'adaptive',
    effort: 'low',
  })
  expect((await load({ agent: 'analyst', temperature: 1 })).model).toMatchObject({ temperature: 1 })
  const { model } = await load({ agent: 'analyst', thinking: 'adaptive' })
  expect(model).toMatchObject({ thinking: 'adaptive' })
  expect(model).not.toHaveProperty('temperature')
})

it('a run records its context and its input data, and large input data as a reference', async () => {
  const input = Array.from({ length: 2_000 }, (_, id) => ({ id }))
  const config = await load({ context: { tenant: 'acme' }, input })
  expect(config.context).toEqual({ tenant: 'acme' })
  expect(config.input?.description).toBe('a list of 2000 items; the first is a dict with the keys "id"')
  expect(isExternal(config.input?.value ?? null)).toBe(true)
  expect((await load({ input: null })).input).toEqual({ value: null, description: 'None' })
})

it('a sub-agent has at most the budget of its lease, and ends when the lease is spent', async () => {
  const lease = { key: 'k', amounts: { turns: 2, seconds: 30.5 } }
  const budget = { turns: 5, tokens: 1_000 }
  expect((await load({ budget, lease })).budget).toEqual({ turns: 2, tokens: 1_000, seconds: 30.5, whenSpent: 'end' })
  expect(await load({ lease: { key: 'k', amounts: {} } })).not.toHaveProperty('budget')
})

it('a run records its own mode, the mode of its agent, or the mode of the configuration', async () => {
  expect(await load({ agent: 'fixer' })).toMatchObject({ mode: 'autonomous', doneCheck: 'is_done' })
  expect(await load({ agent: 'fixer', mode: 'plan' })).not.toHaveProperty('doneCheck')
  expect(await load({ agent: 'fixer', mode: 'answer' })).not.toHaveProperty('mode')
  expect(await load({}, { mode: 'plan' })).toMatchObject({ mode: 'plan' })
  expect(await load({ mode: 'answer' }, { mode: 'plan' })).not.toHaveProperty('mode')
  expect(await load({})).not.toHaveProperty('mode')
})

it('only workflow agent has a mode', async () => {
  const refused = { type: 'RUN_INPUT_INVALID', nonRetryable: true }
  const conversation = { workflowType: 'conversation', mode: 'plan' } as const
  expect(await load({ agent: 'analyst' }, conversation)).not.toHaveProperty('mode')
  await expect(load({ agent: 'fixer' }, conversation)).rejects.toMatchObject({
    ...refused,
    message: expect.stringContaining(
      "agent fixer has mode autonomous, which workflow conversation can't work in",
    ) as string,
  })
  await expect(load({ mode: 'plan' }, { workflowType: 'program' })).rejects.toMatchObject(refused)
})

it.each([
  [{ lease: { key: 'k' } }, 'RUN_INPUT_INVALID', 'lease.amounts'],
  [{ agent: 'analist' }, 'AGENT_UNKNOWN', 'Did you mean "analyst"?'],
  [{ model: 'locl/m' }, 'MODEL_NOT_FOUND', 'there is no model provider "locl". Did you mean "local"?'],
  [{ model: ['small', 'locl/m'] }, 'MODEL_NOT_FOUND', 'there is no model provider "locl"'],
  [{ model: [] }, 'RUN_INPUT_INVALID', 'model'],
  [{ model: 'local/' }, 'MODEL_NOT_FOUND', '"local/" names no model'],
  [{ tools: ['lokup'] }, 'TOOL_UNKNOWN', 'Did you mean "lookup"?'],
  [{ agent: 'analyst', tools: ['pay'] }, 'TOOL_UNKNOWN', 'the agent does not have tool pay'],
  [{ tols: ['pay'] }, 'RUN_INPUT_INVALID', 'unknown key "tols". Did you mean "tools"?'],
  [{ tools: 'pay' }, 'RUN_INPUT_INVALID', 'tools'],
  [{ context: ['acme'] }, 'RUN_INPUT_INVALID', 'not an object'],
  [{ context: { text: 'x'.repeat(2_048) } }, 'RUN_INPUT_INVALID', 'at most 2048 bytes of JSON'],
  [{ mode: 'auto' }, 'RUN_INPUT_INVALID', 'mode'],
  [{ agent: 'fixer', tools: ['pay'] }, 'TOOL_UNKNOWN', 'the run lacks tool is_done'],
  [{ temperature: 3 }, 'RUN_INPUT_INVALID', 'temperature'],
  [{ thinking: { budgetTokens: 2_000 } }, 'RUN_INPUT_INVALID', 'must be less than model.maxTokens (100)'],
  [{ thinking: 'adaptive', temperature: 0 }, 'RUN_INPUT_INVALID', 'temperature and thinking exclude each other'],
  [{ limits: { turns: 0 } }, 'RUN_INPUT_INVALID', 'limits.turns'],
])('a run is refused with invalid options: %j', async (options, code, message) => {
  await expect(load(options as RunConfigInput)).rejects.toMatchObject({
    type: code,
    nonRetryable: true,
    message: expect.stringContaining(message) as string,
  })
})

describe('a run with hosted code', () => {
  it('a run with hosted code records its sandbox', async () => {
    expect(await load({ sandbox: 'anthropic' })).toMatchObject({ backend: 'anthropic' })
  })

  it.each([
    ['a model of a provider that executes no code', { model: 'local/x' }, 'local/x executes no code'],
    ['a fallback of such a provider', { model: ['large', 'local/x'] }, 'local/x executes no code'],
    ['data for its code', { input: [1] }, 'has no `input_data`'],
  ])('a run with hosted code can not have %s', async (_what, options, message) => {
    await expect(load({ sandbox: 'anthropic', ...options })).rejects.toMatchObject({
      type: 'RUN_INPUT_INVALID',
      message: expect.stringContaining(message) as string,
    })
  })
})
