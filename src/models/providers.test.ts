import { expect, it } from 'vitest'
import type { ModelReply } from '../common/agent/messages.js'
import type { ModelFacts } from './facts/model-facts.js'
import type { ModelProvider, ModelRequest } from './provider.js'
import { ModelProviders } from './providers.js'

const million = 1_000_000
const usage = { inputTokens: million, outputTokens: million, cacheReadTokens: million, cacheWriteTokens: million }
const request: ModelRequest = { model: 'm', maxTokens: 10, system: '', tools: [], messages: [] }

/** The reply of a provider of this name to a request for a model. */
function ask(facts: ModelFacts, name: string, model: string, costUsd: number | null = null): Promise<ModelReply> {
  const provider: ModelProvider = {
    turn: async () => ({ model: 'odd', content: [], stopReason: 'end_turn', usage, costUsd, requestId: null }),
    close: () => Promise.resolve(),
  }
  const options = { signal: new AbortController().signal, onProgress: () => undefined }
  return new ModelProviders({ [name]: provider }, facts).turn(name, { ...request, model }, options)
}

it('computes the cost from the configured price, for each provider and for snapshots of a model', async () => {
  const facts: ModelFacts = {
    'openai/gpt-5.6': { price: { input: 1, output: 10, cacheRead: 0.1, cacheWrite: 2 } },
    'local/qwen': { price: { input: 0, output: 0 } },
    'mine/m': { price: { input: 1, output: 1, longPrompt: { overTokens: 10, input: 2, output: 3 } } },
    'claude-next': { price: { input: 5, output: 25 } },
  }
  expect(await ask(facts, 'openai', 'gpt-5.6')).toMatchObject({ costUsd: 13.1 })
  expect(await ask(facts, 'openai', 'gpt-5.6-20260807')).toMatchObject({ costUsd: 13.1 })
  expect(await ask(facts, 'local', 'qwen')).toMatchObject({ costUsd: 0 })
  // Cached tokens have the normal price, unless the configuration sets another.
  expect(await ask(facts, 'mine', 'm', 0.5)).toMatchObject({ costUsd: 9 })
  expect(await ask(facts, 'anthropic', 'claude-next')).toMatchObject({ costUsd: 40 })
})

it('leaves the cost to the provider when the configuration has no price', async () => {
  const facts: ModelFacts = { 'openai/gpt-5.6': { contextWindow: 1_000 } }
  expect(await ask(facts, 'openai', 'gpt-5.6', 0.5)).toMatchObject({ costUsd: 0.5 })
  expect(await ask(facts, 'openai', 'constructor')).toMatchObject({ costUsd: null })
})
