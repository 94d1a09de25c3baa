import { describe, expect, it } from 'vitest'
import { createLazyAnthropicProvider } from './lazy-provider.js'

const request = { model: 'm', maxTokens: 1, system: '', tools: [], messages: [] }
const options = { signal: new AbortController().signal, onProgress: () => undefined }

describe('createLazyAnthropicProvider', () => {
  it.each([[{ baseURL: 'ftp://models' }], [{ apiKey: ' ' }], [{ timeoutMs: 0 }]])(
    'refuses invalid options at once: %j',
    (invalid) => {
      expect(() => createLazyAnthropicProvider(invalid)).toThrow(expect.objectContaining({ code: 'CONFIG_INVALID' }))
    },
  )

  it('calls the API with the options', async () => {
    const provider = createLazyAnthropicProvider({ apiKey: 'key', baseURL: 'http://127.0.0.1:1' })
    await expect(provider.turn(request, options)).rejects.toMatchObject({ code: 'MODEL_CONNECTION' })
    await provider.close()
  })

  it.each(['before', 'after'])('refuses calls once it was closed %s the first call', async (when) => {
    const provider = createLazyAnthropicProvider({ apiKey: 'key', baseURL: 'http://127.0.0.1:1' })
    if (when === 'after') await provider.turn(request, options).catch(() => undefined)
    await provider.close()
    await provider.close()
    await expect(provider.turn(request, options)).rejects.toThrow('closed')
  })
})
