import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type ErrorCode, PtcError } from '../../common/errors.js'
import type { JsonObject } from '../../common/json/json.js'
import { truncateEnd } from '../../common/text/text.js'
import { HttpError } from '../../http/index.js'
import { maxMessageCharacters, toErrorReply } from '../errors.js'

/** The types of errors of the Messages API, by their HTTP status. */
const typeOfStatus: Readonly<Record<number, string>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  405: 'invalid_request_error',
  409: 'invalid_request_error',
  410: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  529: 'overloaded_error',
}

/**
 * Statuses that differ from those of the other paths, and codes whose message a client needs: the client chooses the
 * model.
 */
const statusOfCode: Partial<Readonly<Record<ErrorCode, number>>> = {
  MODEL_NOT_FOUND: 404,
  MODEL_BAD_REQUEST: 400,
  MODEL_CONTEXT_TOO_LONG: 400,
  MODEL_RATE_LIMIT: 429,
  MODEL_OVERLOADED: 529,
  CONVERSATION_CLOSED: 404,
  CALL_COMPLETED: 400,
}

export interface ApiErrorReply {
  readonly status: number
  readonly body: {
    readonly type: 'error'
    readonly error: { readonly type: string; readonly message: string; readonly details?: JsonObject }
    readonly request_id: string
  }
}

export function isMessagesApi({ url }: IncomingMessage): boolean {
  return url?.startsWith('/v1/') === true
}

/** The id in the headers of a response. The first call sets it. */
export function requestIdOf(response: ServerResponse): string {
  const known = response.getHeader('request-id')
  if (typeof known === 'string') return known
  const id = `req_${randomBytes(12).toString('hex')}`
  response.setHeader('request-id', id)
  return id
}

/** The response to a request that failed, in the form of the Messages API. */
export function toApiErrorReply(thrown: unknown, requestId: string): ApiErrorReply {
  const reply = toErrorReply(thrown)
  const known = PtcError.isInstance(thrown) ? statusOfCode[thrown.code] : undefined
  const status = known ?? reply.status
  const { code, message, hint } = known !== undefined && PtcError.isInstance(thrown) ? thrown : reply.body.error
  const text = [thrown instanceof BadRequest ? message : `${code}: ${message}`, hint].filter(Boolean).join(' ')
  const error = {
    type: typeOfStatus[status] ?? 'api_error',
    message: truncateEnd(text, maxMessageCharacters),
    ...(thrown instanceof BadRequest && thrown.details && { details: thrown.details }),
  }
  return { status, body: { type: 'error', error, request_id: requestId } }
}

/** A request that the API would refuse, or that needs a feature that this server does not have. */
export class BadRequest extends HttpError {
  /** Details for programs. */
  readonly details: JsonObject | undefined

  constructor(message: string, details?: JsonObject) {
    super('BAD_REQUEST', message)
    this.details = details
  }
}
