import OpenAI from 'openai'
import { checkKey } from '../http/api-key.js'
import { createCallRunner } from '../http/call-runner.js'
import type { CallTimer } from '../http/call-timer.js'
import { checkBaseURL, resolveTimeouts } from '../http/endpoint-options.js'
import type { ModelProvider, ModelRequest } from '../provider.js'
import { type Dialect, nextDialect } from './dialect.js'
import { fetchWithErrorBodies } from './error-bodies.js'
import { modelErrorOf } from './errors.js'
import { checkOptions, isOwnServer, type OpenAIProviderOptions } from './options.js'
import { toParams } from './request.js'
import { readResponse } from './responses/read-response.js'
import { toCountParams, toResponseParams } from './responses/request.js'
import { readReply } from './stream.js'

/**
 * Chat completions or responses of OpenAI, or of a compatible server at the base URL. The first call reports a missing
 * key, so that a worker without a key can still run tools.
 *
 * When a server refuses a parameter, the same call sends the request again without it; see `Dialect`.
 *
 * @throws PtcError CONFIG_INVALID for invalid options
 */
export function createOpenAIProvider(options: OpenAIProviderOptions = {}): ModelProvider {
  const { name = 'openai', baseURL, api = 'chat', toolsInSystemPrompt = isOwnServer(baseURL) } = options
  const keyVariable = options.keyVariable ?? (baseURL === undefined ? 'OPENAI_API_KEY' : undefined)
  checkOptions(options)
  const timeouts = resolveTimeouts(options)
  const calls = createCallRunner(timeouts)
  const key = keyVariable === undefined ? undefined : process.env[keyVariable]?.trim()
  const client = new OpenAI({
    apiKey: key || 'none',
    adminAPIKey: null,
    // Values of the environment for OpenAI must not reach another server.
    ...(baseURL === undefined ? {} : { baseURL, organization: null, project: null }),
    ...(keyVariable === undefined ? { defaultHeaders: { authorization: null } } : {}),
    fetch: fetchWithErrorBodies,
    // Only Temporal retries: nested retries would multiply, and those of the SDK would be invisible.
    maxRetries: 0,
    timeout: timeouts.timeoutMs,
  })
  checkBaseURL(client.baseURL)
  const dialects = new Map<string, Dialect>()
  const defaultDialect: Dialect = {
    tokenLimit: baseURL === undefined ? 'max_completion_tokens' : 'max_tokens',
    includesUsage: true,
    includesReasoning: api === 'responses',
  }

  async function send(asked: ModelRequest, signal: AbortSignal): Promise<Response> {
    for (;;) {
      const dialect = dialects.get(asked.model) ?? defaultDialect
      const request = { ...asked, maxTokens: Math.min(asked.maxTokens, dialect.maxTokens ?? Infinity) }
      try {
        return await (api === 'responses'
          ? client.responses
              .create(toResponseParams(name, request, { ...dialect, toolsInSystemPrompt }), { signal })
              .asResponse()
          : client.chat.completions
              .create(toParams(name, request, { ...dialect, toolsInSystemPrompt }), { signal })
              .asResponse())
      } catch (thrown) {
        const next = nextDialect(dialect, thrown, request.maxTokens)
        if (next === undefined) throw thrown
        dialects.set(asked.model, next)
      }
    }
  }

  /** Runs a call with the timeouts of the provider, and maps its errors. */
  function run<Result>(
    { model }: ModelRequest,
    signal: AbortSignal,
    work: (timer: CallTimer) => Promise<Result>,
  ): Promise<Result> {
    return calls.run(
      signal,
      (timer) => {
        if (keyVariable !== undefined) checkKey(key, keyVariable)
        return work(timer)
      },
      (thrown) => modelErrorOf(thrown, { baseURL: client.baseURL, model, secrets: key ? [key] : [], keyVariable }),
    )
  }

  return {
    turn: (request, { signal, onProgress, onDelta }) =>
      run(request, signal, async ({ signal: timed, onActivity }) => {
        onProgress({ phase: 'waiting', outputCharacters: 0 })
        const response = await send(request, timed)
        onActivity()
        const read = api === 'responses' ? readResponse : readReply
        const reply = await read(response, { provider: name, model: request.model, onActivity, onProgress, onDelta })
        const requestId = response.headers.get('x-request-id')
        // Prices are unknown here, because they differ by server.
        return { ...reply, model: reply.model ?? request.model, costUsd: null, requestId }
      }),
    ...(api === 'responses' && {
      countTokens: (request, { signal }) =>
        run(request, signal, async (timer) => {
          const counted = toCountParams(toResponseParams(name, request, { ...defaultDialect, toolsInSystemPrompt }))
          const { input_tokens: tokens } = await client.responses.inputTokens.count(counted, { signal: timer.signal })
          return tokens
        }),
    }),
    close: () => calls.close(),
  }
}
