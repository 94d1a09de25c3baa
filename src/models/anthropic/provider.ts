import Anthropic from '@anthropic-ai/sdk'
import { checkKey } from '../http/api-key.js'
import { createCallRunner } from '../http/call-runner.js'
import { checkBaseURL, resolveTimeouts } from '../http/endpoint-options.js'
import { costOf } from '../prices.js'
import type { ModelProvider } from '../provider.js'
import { modelErrorOf } from './errors.js'
import { type AnthropicProviderOptions, checkApiKey } from './options.js'
import { toParams } from './request.js'
import { readReply } from './stream.js'

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
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(baseURL === undefined ? {} : { baseURL }),
    ...(logger === undefined ? {} : { logger }),
    // Only Temporal retries: nested retries would multiply, and those of the SDK would be invisible.
    maxRetries: 0,
    timeout: timeouts.timeoutMs,
  })
  checkBaseURL(client.baseURL)
  const calls = createCallRunner(timeouts)
  return {
    turn: (request, { signal, onProgress }) => {
      const errorOf = (thrown: unknown): Error => {
        const secrets = [client.apiKey, client.authToken].filter((secret) => secret !== null)
        return modelErrorOf(thrown, { baseURL: client.baseURL, model: request.model, secrets })
      }
      return calls.run(
        signal,
        async (timer) => {
          if (keyVariable !== undefined && options.apiKey === undefined) checkKey(namedKey, keyVariable)
          onProgress({ phase: 'waiting', outputCharacters: 0 })
          const response = await client.messages.create(toParams(request), { signal: timer.signal }).asResponse()
          timer.onActivity()
          const reply = await readReply(response, { onActivity: timer.onActivity, onProgress })
          return { ...reply, costUsd: costOf(reply.model, reply.usage), requestId: response.headers.get('request-id') }
        },
        errorOf,
      )
    },
    close: () => calls.close(),
  }
}
