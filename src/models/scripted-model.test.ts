import { expect, test } from 'vitest'
import { scriptedModelName } from '../common/names.js'
import type { ModelProvider, ModelRequest } from './provider.js'
import { withScriptedModel } from './scripted-model.js'

function providerNamed(name: string): ModelProvider {
  return {
    turn: () => Promise.reject(new Error(name)),
    close: () => Promise.resolve(),
  }
}

test('only requests for the scripted model reach its provider', async () => {
  const provider = withScriptedModel(providerNamed('real'), providerNamed('scripted'))
  const request: Omit<ModelRequest, 'model'> = { maxTokens: 1, system: '', tools: [], messages: [] }
  const options = { signal: AbortSignal.timeout(1_000), onProgress: () => undefined }
  await expect(provider.turn({ ...request, model: 'claude-sonnet-5-5' }, options)).rejects.toThrow('real')
  await expect(provider.turn({ ...request, model: scriptedModelName }, options)).rejects.toThrow('scripted')
})
