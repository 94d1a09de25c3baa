import { lazyProvider, type LazyProvider } from '../http/lazy-provider.js'
import { checkOptions, type OpenAIProviderOptions } from './options.js'

/**
 * As `createOpenAIProvider`, but its first call loads the SDK.
 *
 * @throws PtcError CONFIG_INVALID for invalid options
 */
export function createLazyOpenAIProvider(options: OpenAIProviderOptions): LazyProvider {
  checkOptions(options)
  const { name = 'openai' } = options
  return lazyProvider(name, async () => (await import('./provider.js')).createOpenAIProvider(options))
}
