import type Anthropic from '@anthropic-ai/sdk'
import type { Usage } from '../../common/runs/messages.js'
import { createCallRunner } from '../http/call-runner.js'
import type { ProviderTimeouts } from '../http/endpoint-options.js'
import type { ModelProvider } from '../provider.js'
import type { ErrorHints } from './error-context.js'
import { modelErrorOf } from './errors.js'
import { type RequestOptions, toParams } from './request.js'
import { readReply } from './stream.js'

/** A server that speaks the Messages API through a client of Anthropic's SDK. */
export interface MessagesApi extends RequestOptions {
  readonly client: Pick<Anthropic, 'baseURL'> & { readonly messages: Pick<Anthropic['messages'], 'create'> }
  readonly timeouts: ProviderTimeouts
  /** Throws a PtcError MODEL_AUTH before a request for which there is no key. */
  readonly checkKey?: () => void
  readonly secrets: () => readonly string[]
  /** US dollars of a reply; null when its price is unknown. */
  readonly costOf: (model: string, usage: Usage) => number | null
  readonly requestIdHeader: string
  readonly hints?: ErrorHints
  readonly hostsCode?: true
}

export function createMessagesProvider(api: MessagesApi): ModelProvider {
  const { client, timeouts, checkKey, secrets, costOf, requestIdHeader, hints, hostsCode } = api
  const calls = createCallRunner(timeouts)
  return {
    ...(hostsCode && { hostsCode }),
    turn: (request, { signal, onProgress, onDelta }) => {
      let isReading = false
      return calls.run(
        signal,
        async (timer) => {
          checkKey?.()
          onProgress({ phase: 'waiting', outputCharacters: 0 })
          const response = await client.messages.create(toParams(request, api), { signal: timer.signal }).asResponse()
          timer.onActivity()
          isReading = true
          const reply = await readReply(response, { onActivity: timer.onActivity, onProgress, onDelta })
          return {
            ...reply,
            costUsd: costOf(reply.model, reply.usage),
            requestId: response.headers.get(requestIdHeader),
          }
        },
        (thrown) => {
          const { model, hostedCode } = request
          return modelErrorOf(thrown, {
            baseURL: client.baseURL,
            model,
            secrets: secrets(),
            isReading,
            requestIdHeader,
            hints,
            container: hostedCode?.container,
          })
        },
      )
    },
    close: () => calls.close(),
  }
}
