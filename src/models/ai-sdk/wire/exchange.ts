import { isJsonObject, type JsonObject } from '../../../common/json/json.js'
import { invalidReply } from '../../reply/invalid-reply.js'
import { jsonEvents, noEventStream, streamEnd } from '../../http/event-data.js'
import { fetchThroughProxy } from '../../http/proxy-fetch.js'
import type { ModelRequest } from '../../provider.js'
import { tokenCount } from '../../reply/token-count.js'
import { isDeeperThan, maxInputDepth } from '../../reply/tool-input.js'
import { ApiError, readBody } from './api-error.js'
import { ChatStream } from './chat-stream.js'
import type { Dialect } from './dialect.js'
import { eventData } from './event-data.js'
import type { EventStream } from './event-stream.js'
import { type Api, apiAt, countedPart, toBody } from './request-body.js'
import { ResponseStream } from './response-stream.js'

interface ExchangeOptions {
  readonly request: ModelRequest
  readonly dialect: Dialect
  /** The responses API counts the input tokens of the request, and the reply has this usage only. */
  readonly isCount?: boolean
  /** False: no key reaches the server, also none that the package finds. */
  readonly hasKey: boolean
  /** Called for every chunk of bytes. */
  readonly onActivity: () => void
}

/** Maximum bytes of a reply. */
const maxReplyBytes = 256 * 1024 * 1024

const secretHeader = /authorization|key|token|secret/i

/**
 * The HTTP exchange of one model call: the boundary between a package of the AI SDK and its API. It sends what the
 * package has no option for, gives each error the same form, and turns the events of odd servers into those that the
 * package accepts.
 */
export class Exchange {
  readonly #options: ExchangeOptions
  #chat: ChatStream | undefined
  #headers: Headers | undefined
  #secrets: readonly string[] = []

  constructor(options: ExchangeOptions) {
    this.#options = options
  }

  /** The headers of the response. */
  get headers(): Headers | undefined {
    return this.#headers
  }

  /** The credentials in the headers of the request. */
  get secrets(): readonly string[] {
    return this.#secrets
  }

  /** What the package for compatible servers drops of a chat completion. */
  get dropped(): Pick<ChatStream, 'extras' | 'annotations'> {
    return this.#chat ?? { extras: {}, annotations: [] }
  }

  /** @throws ApiError for a status other than success */
  readonly fetch: typeof fetch = async (input, init) => {
    const { request, dialect, isCount = false, hasKey, onActivity } = this.#options
    const url = new URL(input instanceof Request ? input.url : input)
    const api = apiAt(url.pathname)
    if (isCount) url.pathname += '/input_tokens'
    const headers = new Headers(init?.headers)
    if (!hasKey) headers.delete('authorization')
    this.#secrets = [...headers].flatMap(([name, value]) =>
      secretHeader.test(name) ? [value, value.replace(/^\w+ /, '')] : [],
    )
    const body = withBody(init?.body ?? null, (given) => {
      const sent = toBody(api, given, request, dialect)
      return isCount ? countedPart(sent) : sent
    })
    const response = await fetchThroughProxy(url, { ...init, headers, body })
    onActivity()
    this.#headers = response.headers
    if (!response.ok) throw new ApiError(response.status, await readBody(response), response.headers)
    if (isCount) return countReply(await readBody(response))
    const { status } = response
    return new Response(ReadableStream.from(this.#bytesOf(response, api)), { status, headers: response.headers })
  }

  async *#bytesOf({ headers, body }: Response, api: Api | undefined): AsyncGenerator<Uint8Array, void, undefined> {
    const contentType = headers.get('content-type') ?? 'nothing'
    const isEvents = contentType.includes('text/event-stream')
    // Bedrock has a format of its own.
    if (body === null || !(isEvents || (api === undefined && /stream|ndjson/.test(contentType)))) {
      await body?.cancel()
      throw noEventStream(contentType, 'Check that the base URL leads to the API of its provider; most end with /v1.')
    }
    const bytes = this.#watch(body)
    if (isEvents) yield* toBytes(this.#eventsOf(bytes, headers, api))
    else yield* bytes
  }

  async *#watch(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    let length = 0
    for await (const bytes of body) {
      this.#options.onActivity()
      length += bytes.length
      if (length > maxReplyBytes) throw invalidReply(`it has more than ${maxReplyBytes} bytes`)
      yield bytes
    }
  }

  async *#eventsOf(
    bytes: AsyncIterable<Uint8Array>,
    headers: Headers,
    api: Api | undefined,
  ): AsyncGenerator<unknown, void, undefined> {
    const stream = this.#streamOf(api)
    for await (const value of jsonEvents(eventData(bytes))) {
      // Some servers end the streams of other APIs like those of chat completions.
      if (value === streamEnd) {
        if (stream) yield* stream.end(true)
        return
      }
      const error = errorIn(value)
      if (error !== undefined) throw new ApiError(undefined, error, headers)
      if (stream) yield* stream.add(value)
      else yield value
      if (stream?.isComplete) return
    }
    if (stream) yield* stream.end(false)
  }

  #streamOf(api: Api | undefined): EventStream | undefined {
    if (api === 'responses') return new ResponseStream()
    if (api !== 'chat') return undefined
    this.#chat = new ChatStream()
    return this.#chat
  }
}

/** The error that an event reports. */
function errorIn(value: unknown): unknown {
  if (!isJsonObject(value)) return undefined
  const { type, error, response } = value
  if (error !== undefined && error !== null) return error
  if (type === 'error') return value
  if (type !== 'response.failed') return undefined
  return (isJsonObject(response) ? response['error'] : null) ?? 'the response failed'
}

/** A reply of the responses API with the counted tokens as its usage. */
function countReply(counted: unknown): Response {
  const tokens = isJsonObject(counted) ? tokenCount(counted['input_tokens']) : undefined
  if (tokens === undefined) throw invalidReply('it has no number of tokens')
  const response = { usage: { input_tokens: tokens, output_tokens: 0 } }
  const event = { type: 'response.completed', response }
  return new Response(`data: ${JSON.stringify(event)}\n\n`, { headers: { 'content-type': 'text/event-stream' } })
}

/** The body after a change, if it is a JSON object. A signed body stays as it is. */
function withBody<Body>(body: Body, change: (body: JsonObject) => JsonObject): Body | string {
  if (typeof body !== 'string') return body
  const given: unknown = JSON.parse(body)
  if (!isJsonObject(given)) return body
  const changed = change(given)
  return changed === given ? body : JSON.stringify(changed)
}

async function* toBytes(events: AsyncIterable<unknown>): AsyncGenerator<Uint8Array, void, undefined> {
  const encoder = new TextEncoder()
  for await (const event of events) {
    if (isDeeperThan(event, maxInputDepth)) throw invalidReply('an event is nested too deeply')
    yield encoder.encode(`data: ${JSON.stringify(event)}\n\n`)
  }
}
