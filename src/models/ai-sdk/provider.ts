import { checkKey } from '../http/api-key.js'
import { createCallRunner } from '../http/call-runner.js'
import type { CallTimer } from '../http/call-timer.js'
import { resolveTimeouts } from '../http/endpoint-options.js'
import type { ModelProvider, ModelRequest } from '../provider.js'
import { modelErrorOf, requestIdIn, unwrap } from './errors.js'
import { type AiSdkProviderOptions, checkOptions, isOwnServer } from './options.js'
import { ReplyBuilder } from './reply.js'
import { toCallOptions } from './request.js'
import { vendorOf } from './vendor.js'
import { type Dialect, nextDialect } from './wire/dialect.js'
import { Exchange } from './wire/exchange.js'

/**
 * The models of a vendor, called with its package of the AI SDK. The first call reports a missing package or key, so
 * that a worker without them can still run tools.
 *
 * When a server refuses a parameter, the same call sends the request again without it; see `Dialect`.
 *
 * @throws PtcError CONFIG_INVALID for invalid options
 */
export function createAiSdkProvider(options: AiSdkProviderOptions): ModelProvider {
  checkOptions(options)
  const { name, toolsInSystemPrompt = isOwnServer(options.baseURL) } = options
  const vendor = vendorOf(options)
  const { keyVariable, hasInstructions, keepsExtras } = vendor
  const calls = createCallRunner(resolveTimeouts(options))
  const key = keyVariable === undefined ? undefined : process.env[keyVariable]?.trim()
  const hasKey = keyVariable !== undefined || options.package !== undefined
  const dialects = new Map<string, Dialect>()
  const ownLimit = options.baseURL === undefined ? 'max_completion_tokens' : 'max_tokens'
  const defaultDialect: Dialect = {
    tokenLimit: keepsExtras ? ownLimit : undefined,
    includesUsage: true,
    includesReasoning: hasInstructions,
  }

  /** Sends the request, again without what the server refuses, and returns its stream. */
  async function send(asked: ModelRequest, { signal, onActivity }: CallTimer, sent: Exchange[], isCount = false) {
    for (;;) {
      const dialect = dialects.get(asked.model) ?? defaultDialect
      const request = { ...asked, maxTokens: Math.min(asked.maxTokens, dialect.maxTokens ?? Infinity) }
      const exchange = new Exchange({ request, dialect, isCount, hasKey, onActivity })
      sent.push(exchange)
      const model = await vendor.model(request.model, key, exchange.fetch)
      const called = toCallOptions(request, { provider: name, hasInstructions, toolsInSystemPrompt })
      try {
        const { stream } = await model.doStream({ ...called, abortSignal: signal })
        return { stream, exchange }
      } catch (thrown) {
        const next = nextDialect(dialect, unwrap(thrown), request.maxTokens)
        if (next === undefined) throw thrown
        dialects.set(asked.model, next)
      }
    }
  }

  /** Runs a call with the timeouts of the vendor, and maps its errors. */
  function run<Result>(
    { model }: ModelRequest,
    signal: AbortSignal,
    work: (timer: CallTimer, sent: Exchange[]) => Promise<Result>,
  ): Promise<Result> {
    const sent: Exchange[] = []
    return calls.run(
      signal,
      (timer) => {
        if (keyVariable !== undefined) checkKey(key, keyVariable)
        return work(timer, sent)
      },
      (thrown) => {
        const baseURL = vendor.baseURL ?? 'its own address'
        const secrets = [...(key ? [key] : []), ...sent.flatMap((exchange) => exchange.secrets)]
        return modelErrorOf(thrown, { baseURL, model, secrets, keyVariable })
      },
    )
  }

  return {
    turn: (request, { signal, onProgress, onDelta }) =>
      run(request, signal, async (timer, sent) => {
        onProgress({ phase: 'waiting', outputCharacters: 0 })
        const { stream, exchange } = await send(request, timer, sent)
        const reply = new ReplyBuilder({ provider: name, model: request.model, keepsExtras })
        for await (const part of stream) {
          const delta = reply.add(part)
          if (part.type.endsWith('-delta')) onProgress(reply.progress)
          if (delta) onDelta?.(delta)
        }
        const { model, ...finished } = reply.finish(exchange.dropped)
        const requestId = requestIdIn(exchange.headers)
        // Prices are unknown here, because they differ by server.
        return { ...finished, model: model ?? request.model, costUsd: null, requestId }
      }),
    // Only the responses API counts in the form of its requests.
    ...(hasInstructions && {
      countTokens: (request, { signal }) =>
        run(request, signal, async (timer, sent) => {
          const { stream } = await send(request, timer, sent, true)
          for await (const part of stream) {
            if (part.type === 'error') throw part.error
            if (part.type === 'finish') return part.usage.inputTokens.total
          }
          return undefined
        }),
    }),
    close: () => calls.close(),
  }
}
