import type Anthropic from '@anthropic-ai/sdk'
import type { MessageCountTokensParams } from '@anthropic-ai/sdk/resources/messages'
import type { Usage } from '../../common/agent/messages.js'
import { defined } from '../../common/defined.js'
import { createCallRunner } from '../http/call-runner.js'
import type { CallTimer } from '../http/call-timer.js'
import { checkBaseURL, type ProviderTimeouts } from '../http/endpoint-options.js'
import { fetchThroughProxy } from '../http/proxy-fetch.js'
import type { ModelProvider, ModelRequest } from '../provider.js'
import type { ErrorHints } from './api-errors.js'
import { modelErrorOf } from './errors.js'
import { type Dialect, nextDialect } from './dialect.js'
import { type MessagesParams, type RequestOptions, toParams } from './request.js'
import { readReply } from './stream.js'

/** A server that speaks the Messages API through a client of Anthropic's SDK. */
interface MessagesApi extends RequestOptions {
  readonly client: Pick<Anthropic, 'baseURL'> & { readonly messages: Pick<Anthropic['messages'], 'create'> }
  readonly timeouts: ProviderTimeouts
  /** Throws a PtcError MODEL_AUTH before a request without a key. */
  readonly checkKey?: () => void
  readonly secrets: () => readonly string[]
  /** US dollars of a reply; null when its price is unknown. */
  readonly costOf: (model: string, usage: Usage) => number | null
  readonly requestIdHeader: string
  /** The version of the API that accepts a temperature. The SDK's own version no longer does. */
  readonly samplingVersion: string
  /** Absent: the API counts no tokens before a turn. */
  readonly countTokens?: Anthropic['messages']['countTokens']
  readonly hints?: ErrorHints
  readonly hostsCode?: true
}

const contextManagementBeta = 'context-management-2025-06-27'

/** Options of each client of Anthropic's SDK. */
export function clientOptions({ timeoutMs }: ProviderTimeouts) {
  // Only Temporal retries: nested retries would multiply, and those of the SDK would be invisible.
  return { fetch: fetchThroughProxy, maxRetries: 0, timeout: timeoutMs } as const
}

/** @throws PtcError CONFIG_INVALID for the base URL of the client */
export function createMessagesProvider(api: MessagesApi): ModelProvider {
  const { client, timeouts, checkKey, countTokens, secrets, costOf, requestIdHeader, hints } = api
  const { hostsCode, managesContext } = api
  checkBaseURL(client.baseURL)
  const calls = createCallRunner(timeouts)
  const dialects = new Map<string, Dialect>()

  /** Sends the request again in another form when the server refuses its form. */
  async function send<Result>(
    request: ModelRequest,
    sendParams: (params: MessagesParams, headers: Record<string, string>) => Promise<Result>,
  ): Promise<Result> {
    for (;;) {
      const dialect = dialects.get(request.model) ?? {
        hasToolSearch: api.hasToolSearch,
        hasNativeTools: api.hasNativeTools,
      }
      const params = toParams(
        { ...request, maxTokens: Math.min(request.maxTokens, dialect.maxTokens ?? Infinity) },
        { ...api, ...dialect },
      )
      try {
        return await sendParams(params, headersOf(params, api))
      } catch (thrown) {
        const next = nextDialect(dialect, thrown, params)
        if (next === undefined) throw thrown
        dialects.set(request.model, next)
      }
    }
  }

  /** Runs a call with the timeouts of the provider, and maps its errors. */
  function run<Result>(
    { model, hostedCode }: ModelRequest,
    signal: AbortSignal,
    work: (timer: CallTimer, beginReading: () => void) => Promise<Result>,
  ): Promise<Result> {
    let isReading = false
    return calls.run(
      signal,
      (timer) => {
        checkKey?.()
        return work(timer, () => (isReading = true))
      },
      (thrown) =>
        modelErrorOf(thrown, {
          baseURL: client.baseURL,
          model,
          secrets: secrets(),
          isReading,
          requestIdHeader,
          hints,
          container: hostedCode?.container,
        }),
    )
  }

  return {
    ...(hostsCode && { hostsCode }),
    ...(managesContext && { managesContext }),
    turn: (request, { signal, onProgress, onDelta }) =>
      run(request, signal, async (timer, beginReading) => {
        onProgress({ phase: 'waiting', outputCharacters: 0 })
        const response = await send(request, (params, headers) =>
          client.messages.create(params, { signal: timer.signal, headers }).asResponse(),
        )
        timer.onActivity()
        beginReading()
        const reply = await readReply(response, { onActivity: timer.onActivity, onProgress, onDelta })
        const model = reply.model ?? request.model
        return {
          ...reply,
          model,
          costUsd: costOf(model, reply.usage),
          requestId: response.headers.get(requestIdHeader),
        }
      }),
    ...(countTokens && {
      countTokens: (request, { signal }) =>
        run(request, signal, async (timer) => {
          const { input_tokens: tokens } = await send(request, (params, headers) =>
            countTokens(countedParams(params), { signal: timer.signal, headers }),
          )
          return tokens
        }),
    }),
    close: () => calls.close(),
  }
}

function headersOf(params: MessagesParams, { samplingVersion }: MessagesApi): Record<string, string> {
  return {
    ...('temperature' in params && { 'anthropic-version': samplingVersion }),
    ...(params.context_management && { 'anthropic-beta': contextManagementBeta }),
  }
}

/** The part of a request that counts as input, and the settings for what the API clears from it. */
function countedParams(params: MessagesParams): MessageCountTokensParams & Pick<MessagesParams, 'context_management'> {
  const { model, messages, system, tools, thinking, output_config: output, context_management: management } = params
  const { tool_choice: toolChoice } = params
  return {
    model,
    messages,
    ...defined({
      system,
      tools,
      thinking,
      tool_choice: toolChoice,
      output_config: output,
      context_management: management,
    }),
  }
}
