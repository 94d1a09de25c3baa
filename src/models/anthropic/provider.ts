import Anthropic from '@anthropic-ai/sdk'
import { defined } from '../../common/defined.js'
import { checkKey } from '../http/api-key.js'
import { resolveTimeouts } from '../http/endpoint-options.js'
import { costOf } from '../facts/prices.js'
import type { ModelProvider } from '../provider.js'
import { clientOptions, createMessagesProvider } from './messages-provider.js'
import { type AnthropicProviderOptions, checkApiKey } from './options.js'

/**
 * Claude through the Messages API, or a compatible server at the base URL. The first call reports a missing key, so
 * that a worker without a key can still run tools.
 *
 * @throws PtcError CONFIG_INVALID for invalid options
 */
export function createAnthropicProvider(options: AnthropicProviderOptions = {}): ModelProvider {
  const { baseURL, logger, keyVariable } = options
  const timeouts = resolveTimeouts(options)
  checkApiKey(options.apiKey)
  const namedKey = keyVariable === undefined ? undefined : process.env[keyVariable]?.trim()
  // With a variable, the SDK must not find another key.
  const apiKey = options.apiKey ?? (keyVariable === undefined ? undefined : namedKey || 'none')
  const client = new Anthropic({
    ...defined({ apiKey, baseURL, logger }),
    ...clientOptions(timeouts),
  })
  return createMessagesProvider({
    client,
    timeouts,
    checkKey: () => {
      if (keyVariable !== undefined && options.apiKey === undefined) checkKey(namedKey, keyVariable)
    },
    secrets: () => [client.apiKey, client.authToken].filter((secret) => secret !== null),
    costOf,
    requestIdHeader: 'request-id',
    hasInputExamples: true,
    hasToolSearch: true,
    hasNativeTools: true,
    managesContext: true,
    hostsCode: true,
    samplingVersion: '2023-06-01',
    countTokens: client.messages.countTokens.bind(client.messages),
    ...(keyVariable !== undefined && {
      hints: { MODEL_AUTH: `Check that ${keyVariable} is right and may use this model.` },
    }),
  })
}
