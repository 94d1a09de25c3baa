import { checkBaseURL, resolveTimeouts } from '../http/endpoint-options.js'
import { lazyProvider, type LazyProvider } from '../http/lazy-provider.js'
import { type AnthropicProviderOptions, checkApiKey } from './options.js'

/** Loads the SDK before the first call. */
export async function loadAnthropicSdk(): Promise<void> {
  await import('./provider.js')
}

/**
 * As `createAnthropicProvider`, but its first call loads the SDK.
 *
 * @throws PtcError CONFIG_INVALID for invalid options
 */
export function createLazyAnthropicProvider(options: AnthropicProviderOptions): LazyProvider {
  const baseURL = options.baseURL ?? process.env['ANTHROPIC_BASE_URL']
  resolveTimeouts(options)
  checkApiKey(options.apiKey)
  if (baseURL !== undefined && baseURL !== '') checkBaseURL(baseURL)
  return lazyProvider('anthropic', async () => (await import('./provider.js')).createAnthropicProvider(options))
}
