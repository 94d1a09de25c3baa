import { checkBaseURL, resolveTimeouts } from '../http/endpoint-options.js'
import { lazyProvider } from '../http/lazy-provider.js'
import type { ModelProvider } from '../provider.js'
import { type AnthropicProviderOptions, checkApiKey } from './options.js'

/**
 * Like `createAnthropicProvider`, but its first call loads the SDK.
 *
 * @throws PtcError CONFIG_INVALID for invalid options
 */
export function createLazyAnthropicProvider(options: AnthropicProviderOptions): ModelProvider {
  const baseURL = options.baseURL ?? process.env['ANTHROPIC_BASE_URL']
  resolveTimeouts(options)
  checkApiKey(options.apiKey)
  if (baseURL !== undefined && baseURL !== '') checkBaseURL(baseURL)
  const provider = lazyProvider(async () => (await import('./provider.js')).createAnthropicProvider(options))
  return { ...provider, hostsCode: true, managesContext: true }
}
