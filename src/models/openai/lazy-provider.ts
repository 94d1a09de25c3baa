import { lazyProvider } from '../http/lazy-provider.js'
import type { ModelProvider } from '../provider.js'
import { checkOptions, type OpenAIProviderOptions } from './options.js'

/**
 * Like `createOpenAIProvider`, but its first call loads the SDK.
 *
 * @throws PtcError CONFIG_INVALID for invalid options
 */
export function createLazyOpenAIProvider(options: OpenAIProviderOptions): ModelProvider {
  checkOptions(options)
  return lazyProvider(async () => (await import('./provider.js')).createOpenAIProvider(options))
}
