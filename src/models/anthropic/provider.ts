import Anthropic from '@anthropic-ai/sdk'
import { PtcError } from '../../common/errors.js'
import { costOf } from '../prices.js'
import type { ModelProvider } from '../provider.js'
import { modelErrorOf } from './errors.js'
import { type AnthropicProviderOptions, checkApiKey, checkBaseURL, checkedTimeouts } from './options.js'
import { toParams } from './request.js'
import { readReply } from './stream.js'
import { startWatchdog, type Watchdog } from './watchdog.js'

/**
 * Claude through the Messages API (or whatever speaks it at the base URL). A missing key is reported by the first call,
 * so that a worker without one can still run tools.
 *
 * @throws PtcError CONFIG_INVALID for options that can't be right
 */
export function createAnthropicProvider(options: AnthropicProviderOptions = {}): ModelProvider {
  const { apiKey, baseURL, logger } = options
  const timeouts = checkedTimeouts(options)
  checkApiKey(apiKey)
  const client = new Anthropic({
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(baseURL === undefined ? {} : { baseURL }),
    ...(logger === undefined ? {} : { logger }),
    // Retries are Temporal's alone: two loops inside each other multiply, and only one of them is seen.
    maxRetries: 0,
    timeout: timeouts.timeoutMs,
  })
  checkBaseURL(client.baseURL)

  const underWay = new Set<Watchdog>()
  const closedError = new PtcError('MODEL_CONNECTION', 'The model provider was closed.')
  let closed = false

  async function attempt<T>(model: string, signal: AbortSignal, work: (watchdog: Watchdog) => Promise<T>): Promise<T> {
    signal.throwIfAborted()
    if (closed) throw closedError
    const watchdog = startWatchdog({ signal, ...timeouts })
    underWay.add(watchdog)
    try {
      return await watchdog.guard(work(watchdog))
    } catch (thrown) {
      signal.throwIfAborted()
      watchdog.signal.throwIfAborted()
      const secrets = [client.apiKey, client.authToken].filter((secret) => secret !== null)
      throw modelErrorOf(thrown, { baseURL: client.baseURL, model, secrets })
    } finally {
      underWay.delete(watchdog)
      watchdog.stop()
    }
  }

  return {
    name: 'anthropic',
    turn: (request, { signal, onProgress }) =>
      attempt(request.model, signal, async (watchdog) => {
        onProgress({ phase: 'waiting', outputCharacters: 0 })
        const params = { ...toParams(request), max_tokens: request.maxTokens, stream: true as const }
        const response = await client.messages.create(params, { signal: watchdog.signal }).asResponse()
        watchdog.touch()
        const reply = await readReply(response, { touch: watchdog.touch, onProgress })
        return { ...reply, costUsd: costOf(reply.model, reply.usage), requestId: response.headers.get('request-id') }
      }),
    countTokens: (request, { signal }) =>
      attempt(request.model, signal, async (watchdog) => {
        const counted = await client.messages.countTokens(toParams(request), { signal: watchdog.signal })
        return counted.input_tokens
      }),
    close: async () => {
      closed = true
      for (const watchdog of underWay) watchdog.abort(closedError)
    },
  }
}
