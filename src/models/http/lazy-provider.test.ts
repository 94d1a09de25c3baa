import { describe, expect, it } from 'vitest'
import { createLazyAiSdkProvider } from '../ai-sdk/options.js'
import { createLazyAnthropicProvider, createLazyBedrockProvider } from '../anthropic/options.js'

const request = { model: 'm', maxTokens: 1, system: '', tools: [], messages: [] }
const options = { signal: new AbortController().signal, onProgress: () => undefined }

const providers = {
  anthropic: createLazyAnthropicProvider,
  bedrock: createLazyBedrockProvider,
  'ai-sdk': (options: object) => createLazyAiSdkProvider({ name: 'openai', ...options }),
}

describe.each(Object.entries(providers))('%s', (_name, create) => {
  it.each([[{ baseURL: 'ftp://models' }], [{ timeoutMs: 0 }]])(
    'a lazy provider refuses invalid options at once: %j',
    (invalid) => {
      expect(() => create(invalid)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
    },
  )
})

it('refuses an empty key of Anthropic at once', () => {
  expect(() => createLazyAnthropicProvider({ apiKey: ' ' })).toThrow(
    expect.objectContaining({ code: 'CONFIG_INVALID' }),
  )
})

describe('a lazy provider', () => {
  it('a lazy provider calls the API with the options', async () => {
    const provider = createLazyAnthropicProvider({ apiKey: 'key', baseURL: 'http://127.0.0.1:1' })
    await expect(provider.turn(request, options)).rejects.toMatchObject({ code: 'MODEL_CONNECTION' })
    await provider.close()
  })

  it.each(['before', 'after'])('a lazy provider refuses calls when it was closed %s the first call', async (when) => {
    const provider = createLazyAnthropicProvider({ apiKey: 'key', baseURL: 'http://127.0.0.1:1' })
    if (when === 'after') await provider.turn(request, options).catch(() => undefined)
    await provider.close()
    await provider.close()
    await expect(provider.turn(request, options)).rejects.toThrow('closed')
  })
})
