import { STATUS_CODES } from 'node:http'
import type { Effect } from '../../../../common/calls/calls.js'
import { messageOf } from '../../../../common/errors.js'
import type { JsonObject, JsonValue } from '../../../../common/json/json.js'
import type { ToolContext } from '../../../tool-context.js'
import { ToolError } from '../../../tool-error.js'
import { NotSentError } from '../../../network/open-response.js'
import { type ReceivedResponse, sendRequest } from '../../../network/send-request.js'
import type { Operation } from '../operation.js'
import type { ParsedOpenApiSource } from '../options.js'
import { buildRequest, type BuiltRequest } from './build-request.js'
import { clientTokens, givenParts } from './credentials.js'
import { InvalidRequestError } from './invalid-request.js'
import { errorTextOf, isSuccess, maxErrorBytes, maxResultBytes, responseOf, resultOf } from './read-result.js'

export interface CalledOperation {
  readonly operation: Operation
  readonly source: ParsedOpenApiSource
  readonly effect: Effect
  readonly idempotencyKeyHeader: string | undefined
  /** The result has the status and the headers, too. */
  readonly hasResponseHeaders: boolean
}

const maxRedirects = 5

/**
 * Sends a call to its API, once.
 *
 * @throws ToolError when the API refused the call, or nothing was sent; any other error when a later attempt may succeed,
 *   or the outcome is not known; the reason of the signal
 */
export async function callOperation(
  called: CalledOperation,
  input: JsonObject,
  context: ToolContext,
): Promise<JsonValue> {
  const { operation, source, effect, idempotencyKeyHeader, hasResponseHeaders } = called
  const { signal, idempotencyKey } = context
  let redact = (text: string) => text
  const attempt = async () => {
    const given = await givenParts(operation, source, context)
    redact = given.redactor.text
    const built = buildRequest(operation, input, given)
    const headers = {
      ...built.headers,
      ...(idempotencyKeyHeader !== undefined && { [idempotencyKeyHeader.toLowerCase()]: idempotencyKey }),
    }
    return { given, response: await send({ ...built, headers }, source, effect, signal) }
  }
  try {
    let { given, response } = await attempt()
    if (response.status === 401 && given.keptToken) {
      // The API did not execute the call. Another token may be good.
      clientTokens.forget(given.keptToken)
      ;({ given, response } = await attempt())
    }
    if (!isSuccess(response.status)) throw failureOf(response, effect, redact)
    if (response.isCut) throw tooLarge(effect)
    return given.redactor.any(hasResponseHeaders ? responseOf(response) : resultOf(response))
  } catch (thrown) {
    signal.throwIfAborted()
    const isRefused =
      thrown instanceof InvalidRequestError || (thrown instanceof NotSentError && !isRetried(thrown, effect))
    if (isRefused) throw new ToolError(redact(messageOf(thrown)), { cause: thrown })
    throw thrown
  }
}

function tooLarge(effect: Effect): Error {
  const message = `the response has more than ${maxResultBytes} bytes, and the API has executed the call`
  // The next attempt of a read would be as large. No other call may seem to have had no effect.
  return effect === 'read' ? new ToolError(message) : new Error(message)
}

/** Nothing was sent. A tool that may be called again is called again. */
function isRetried({ isTemporary }: NotSentError, effect: Effect): boolean {
  return isTemporary && effect !== 'once'
}

/** Follows redirects of reads within their origin: no other place gets the credentials. */
async function send(
  request: BuiltRequest,
  { baseUrl }: ParsedOpenApiSource,
  effect: Effect,
  signal: AbortSignal,
): Promise<ReceivedResponse> {
  let { url } = request
  const isRead = request.method === 'GET' || request.method === 'HEAD'
  for (let redirects = 0; ; redirects++) {
    const response = await sendRequest(
      { ...request, url, isConfigured: baseUrl !== undefined, isRepeatable: effect !== 'once', signal },
      (status) => (isSuccess(status) ? maxResultBytes : maxErrorBytes),
    )
    const location = isRedirect(response.status) ? response.headers['location'] : undefined
    if (location === undefined || !isRead) return response
    const next = URL.canParse(location, url.href) ? new URL(location, url) : undefined
    if (next?.origin !== url.origin || redirects >= maxRedirects) return response
    next.hash = ''
    url = next
  }
}

function isRedirect(status: number): boolean {
  return [301, 302, 303, 307, 308].includes(status)
}

/** Statuses after which a later attempt of a read may succeed. */
function isTemporary(status: number): boolean {
  return status >= 500 || status === 408
}

/**
 * The error for a response that is not a success. A ToolError means that the call had no effect. The effect decides
 * whether a call with any other error is repeated.
 */
function failureOf(response: ReceivedResponse, effect: Effect, redact: (text: string) => string): Error {
  const { status } = response
  const text = redact(errorTextOf(response, STATUS_CODES[status] ?? ''))
  const target = isRedirect(status) ? response.headers['location'] : undefined
  const message =
    target === undefined ? text : `${text}; the redirect to ${redact(target).slice(0, 200)} was not followed`
  // The API has not begun to work on a call that comes too early, or too often.
  const isUnbegun = status === 425 || status === 429
  if (isUnbegun) return effect === 'once' ? new ToolError(message) : new Error(message)
  const hadNoEffect = effect === 'read' ? !isTemporary(status) : isRefusal(status)
  return hadNoEffect ? new ToolError(message) : new Error(message)
}

/** Statuses with which an API says that it did not execute a call: those of the caller's fault, and other addresses. */
function isRefusal(status: number): boolean {
  return (status >= 400 && status < 500 && status !== 408) || status === 307 || status === 308 || status === 304
}
