import { defined } from '../../common/defined.js'
import { type ErrorCode, PtcError } from '../../common/errors.js'
import { mentionsSecret, redact } from './redact.js'
import { retryAfterMsOf } from './retry-after.js'
import { truncateEnd } from '../../common/text/text.js'

/** Names for error messages, and the secrets that they must not contain. */
export interface ErrorContext {
  readonly baseURL: string
  readonly model: string
  readonly secrets: readonly string[]
}

/** A failed model call, classified. */
export interface ModelFault {
  readonly code: ErrorCode
  readonly message: string
  readonly hint: string
  /** Headers of the response; undefined without a response. */
  readonly headers?: Headers | undefined
}

/** The codes of the statuses that mean the same with every API. */
export const codesByStatus: Readonly<Record<number, ErrorCode>> = {
  401: 'MODEL_AUTH',
  402: 'MODEL_AUTH',
  403: 'MODEL_AUTH',
  404: 'MODEL_NOT_FOUND',
  408: 'MODEL_TIMEOUT',
  // A lock conflict, which the SDK retries, too.
  409: 'MODEL_SERVER',
  // Bedrock: an error within the model.
  424: 'MODEL_SERVER',
  429: 'MODEL_RATE_LIMIT',
  504: 'MODEL_TIMEOUT',
  529: 'MODEL_OVERLOADED',
}

export const passes = 'Usually passes by itself; the call is tried again.'

export const hintsByCode: { readonly [code in ErrorCode]?: string } = {
  MODEL_CONTEXT_TOO_LONG: 'The conversation no longer fits the model: print less, or begin a new run.',
  MODEL_BAD_REQUEST: 'The request is wrong, so trying again would not help.',
  MODEL_RATE_LIMIT: "The account's rate limit is reached; the call is tried again later.",
}

/** The error of a fault, without secrets. */
export function toModelError(fault: ModelFault, thrown: unknown, { secrets }: ErrorContext): PtcError {
  const retryAfterMs = fault.headers === undefined ? undefined : retryAfterMsOf(fault.headers)
  return new PtcError(fault.code, redact(fault.message, secrets), {
    hint: fault.hint,
    // The workflow's history records message and stack of a cause.
    ...(mentionsSecret(thrown, secrets) ? {} : { cause: thrown }),
    ...defined({ retryAfterMs }),
  })
}

/** The fault of an API that sent no response in time. */
export function timeoutFault({ baseURL }: ErrorContext): ModelFault {
  const hint = 'Usually passes; if not, check network and proxies.'
  return { code: 'MODEL_TIMEOUT', message: `The model API at ${baseURL} did not answer in time.`, hint }
}

/** The fault of a connection that failed for no known reason. */
export function connectionFault({ baseURL }: ErrorContext): ModelFault {
  const hint = 'Check network and proxies.'
  return { code: 'MODEL_CONNECTION', message: `Can't reach the model API at ${baseURL}.`, hint }
}

/** The fault of an unknown error. */
export function unknownFault(message: string): ModelFault {
  return {
    code: 'INTERNAL',
    message: `The model call failed: ${message}`,
    hint: 'This is a defect; please report it.',
  }
}

const maxMessageCharacters = 400

/** A message of an API on one line. It is truncated, because it may be the whole page of a proxy. */
export function toOneLine(message: string): string {
  return truncateEnd(message.replaceAll(/\s+/g, ' ').trim(), maxMessageCharacters)
}
