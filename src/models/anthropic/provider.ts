import Anthropic from '@anthropic-ai/sdk'
import { PtcError } from '../../common/errors.js'
import { costOf } from '../prices.js'
import type { ModelProvider } from '../provider.js'
import { modelErrorOf } from './errors.js'
import { type AnthropicProviderOptions, checkApiKey, checkBaseURL, resolveTimeouts } from './options.js'
import { toParams } from './request.js'
import { readReply } from './stream.js'
import { startCallTimer, type CallTimer } from './call-timer.js'

/**
 * Claude through the Messages API, or a compatible server at the base URL. The first call reports a missing key, so
 * that a worker without a key can still run tools.
 *
 * @throws PtcError CONFIG_INVALID for invalid options
 */
export function createAnthropicProvider(options: AnthropicProviderOptions = {}): ModelProvider {
  const { apiKey, baseURL, logger } = options
  const timeouts = resolveTimeouts(options)
  checkApiKey(apiKey)
  const client = new Anthropic({
    ...(apiKey === undefined ? {} : { apiKey }),
    ...(baseURL === undefined ? {} : { baseURL }),
    ...(logger === undefined ? {} : { logger }),
    // Only Temporal retries: nested retries would multiply, and those of the SDK would be invisible.
    maxRetries: 0,
    timeout: timeouts.timeoutMs,
  })
  checkBaseURL(client.baseURL)

  const activeCalls = new Set<CallTimer>()
  const closedError = new PtcError('MODEL_CONNECTION', 'The model provider was closed.')
  let closed = false

  async function runCall<T>(model: string, signal: AbortSignal, work: (timer: CallTimer) => Promise<T>): Promise<T> {
    signal.throwIfAborted()
    if (closed) throw closedError
    const timer = startCallTimer({ signal, ...timeouts })
    activeCalls.add(timer)
    try {
      return await timer.guard(work(timer))
    } catch (thrown) {
      signal.throwIfAborted()
      timer.signal.throwIfAborted()
      const secrets = [client.apiKey, client.authToken].filter((secret) => secret !== null)
      throw modelErrorOf(thrown, { baseURL: client.baseURL, model, secrets })
    } finally {
      activeCalls.delete(timer)
      timer.stop()
    }
  }

  return {
    name: 'anthropic',
    turn: (request, { signal, onProgress, onDelta }) =>
      runCall(request.model, signal, async (timer) => {
        onProgress({ phase: 'waiting', outputCharacters: 0 })
        const params = { ...toParams(request), max_tokens: request.maxTokens, stream: true as const }
        const response = await client.messages.create(params, { signal: timer.signal }).asResponse()
        timer.onActivity()
        const reply = await readReply(response, { onActivity: timer.onActivity, onProgress, onDelta })
        return { ...reply, costUsd: costOf(reply.model, reply.usage), requestId: response.headers.get('request-id') }
      }),
    countTokens: (request, { signal }) =>
      runCall(request.model, signal, async (timer) => {
        const counted = await client.messages.countTokens(toParams(request), { signal: timer.signal })
        return counted.input_tokens
      }),
    close: async () => {
      closed = true
      for (const timer of activeCalls) timer.abort(closedError)
    },
  }
}
