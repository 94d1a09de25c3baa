import { expect, test } from 'vitest'
import { scriptedModelName } from '../common/names.js'
import type { ModelProvider, ModelRequest } from './provider.js'
import { withScriptedModel } from './scripted-model.js'

function providerThatCounts(tokens: number): ModelProvider {
  return {
    name: `provider ${tokens}`,
    turn: () => Promise.reject(new Error('not used')),
    countTokens: () => Promise.resolve(tokens),
    close: () => Promise.resolve(),
  }
}

test('only requests for the scripted model reach its provider', async () => {
  const provider = withScriptedModel(providerThatCounts(1), providerThatCounts(2))
  const request: Omit<ModelRequest, 'model'> = { maxTokens: 1, system: '', tools: [], messages: [] }
  const count = (model: string): Promise<number> =>
    provider.countTokens({ ...request, model }, { signal: AbortSignal.timeout(1_000) })
  expect(await count('claude-sonnet-5-5')).toBe(1)
  expect(await count(scriptedModelName)).toBe(2)
  expect(provider.name).toBe('provider 1')
})
