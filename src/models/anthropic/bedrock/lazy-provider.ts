import { PtcError } from '../../../common/errors.js'
import { hasErrorCode } from '../../../common/system-error.js'
import { checkBaseURL, resolveTimeouts } from '../../http/endpoint-options.js'
import { lazyProvider } from '../../http/lazy-provider.js'
import type { ModelProvider } from '../../provider.js'
import type { BedrockProviderOptions } from './options.js'

/**
 * Like `createBedrockProvider`, but its first call loads the SDK, which may not be installed.
 *
 * @throws PtcError CONFIG_INVALID for invalid options
 */
export function createLazyBedrockProvider(options: BedrockProviderOptions): ModelProvider {
  const baseURL = options.baseURL ?? process.env['ANTHROPIC_BEDROCK_BASE_URL']
  resolveTimeouts(options)
  if (baseURL !== undefined && baseURL !== '') checkBaseURL(baseURL)
  return lazyProvider(async () => {
    try {
      return (await import('./provider.js')).createBedrockProvider(options)
    } catch (thrown) {
      if (!hasErrorCode(thrown, 'ERR_MODULE_NOT_FOUND')) throw thrown
      throw new PtcError('MODEL_PROVIDER_MISSING', 'models on Amazon Bedrock need package @anthropic-ai/bedrock-sdk', {
        hint: 'Install it with durable-ptc: npm install @anthropic-ai/bedrock-sdk.',
        cause: thrown,
      })
    }
  })
}
