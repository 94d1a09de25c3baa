import type { ModelProvider } from '../provider.js'
import { type AnthropicProviderOptions, checkApiKey, checkBaseURL, resolveTimeouts } from './options.js'

/**
 * Loads the SDK. Node remembers that an import has failed, so a process in which this fails can't call a model.
 *
 * @throws the error of the import, for example without file descriptors
 */
export async function loadAnthropicSdk(): Promise<void> {
  await import('./provider.js')
}

/**
 * As `createAnthropicProvider`, but loads the SDK with the first call, if {@link loadAnthropicSdk} has not: its 300
 * modules would take a fifth of the start of a worker, and not every worker calls a model.
 *
 * @throws PtcError CONFIG_INVALID for invalid options
 */
export function createLazyAnthropicProvider(options: AnthropicProviderOptions): ModelProvider {
  const baseURL = options.baseURL ?? process.env['ANTHROPIC_BASE_URL']
  resolveTimeouts(options)
  checkApiKey(options.apiKey)
  if (baseURL !== undefined && baseURL !== '') checkBaseURL(baseURL)
  let loading: Promise<ModelProvider> | undefined
  const load = async (): Promise<ModelProvider> => {
    const { createAnthropicProvider } = await import('./provider.js')
    return createAnthropicProvider(options)
  }
  let closed = false
  const provider = async (): Promise<ModelProvider> => {
    const loaded = await (loading ??= load())
    if (closed) await loaded.close()
    return loaded
  }
  return {
    name: 'anthropic',
    turn: async (request, turnOptions) => (await provider()).turn(request, turnOptions),
    countTokens: async (request, countOptions) => (await provider()).countTokens(request, countOptions),
    close: async () => {
      closed = true
      await (await loading)?.close()
    },
  }
}
