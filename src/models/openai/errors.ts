import { APIConnectionError, APIConnectionTimeoutError, APIError, APIUserAbortError } from 'openai'
import { type ErrorCode, messageOf, PtcError } from '../../common/errors.js'
import {
  connectionFault,
  type ErrorContext,
  type ModelFault,
  timeoutFault,
  toModelError,
  toOneLine,
  unknownFault,
} from '../http/model-fault.js'
import { networkFaultOf } from '../http/network-errors.js'

export interface OpenAIErrorContext extends ErrorContext {
  /** The environment variable with the key; undefined for a server without a key. */
  readonly keyVariable: string | undefined
}

/**
 * Assigns a code to an error of the SDK or of the network. An abort by the caller and a PtcError are returned
 * unchanged.
 */
export function modelErrorOf(thrown: unknown, context: OpenAIErrorContext): Error {
  if (PtcError.isInstance(thrown) || thrown instanceof APIUserAbortError) return thrown
  return toModelError(faultOf(thrown, context), thrown, context)
}

function faultOf(thrown: unknown, context: OpenAIErrorContext): ModelFault {
  if (thrown instanceof APIConnectionTimeoutError) return timeoutFault(context)
  if (thrown instanceof APIError && !(thrown instanceof APIConnectionError)) return apiFaultOf(thrown, context)
  const network = networkFaultOf(thrown, context)
  if (network !== undefined) return network
  if (thrown instanceof APIConnectionError) return connectionFault(context)
  return unknownFault(messageOf(thrown))
}

const codesByStatus: Readonly<Record<number, ErrorCode>> = {
  401: 'MODEL_AUTH',
  402: 'MODEL_AUTH',
  403: 'MODEL_AUTH',
  404: 'MODEL_NOT_FOUND',
  408: 'MODEL_TIMEOUT',
  409: 'MODEL_SERVER',
  429: 'MODEL_RATE_LIMIT',
  503: 'MODEL_OVERLOADED',
  504: 'MODEL_TIMEOUT',
  529: 'MODEL_OVERLOADED',
}

const codesByType: Readonly<Record<string, ErrorCode>> = {
  context_length_exceeded: 'MODEL_CONTEXT_TOO_LONG',
  model_not_found: 'MODEL_NOT_FOUND',
  invalid_api_key: 'MODEL_AUTH',
  // The account has reached its spend limit: not retryable, although the status is 429.
  insufficient_quota: 'MODEL_AUTH',
  billing_hard_limit_reached: 'MODEL_AUTH',
  rate_limit_exceeded: 'MODEL_RATE_LIMIT',
  server_error: 'MODEL_SERVER',
}

const contextTooLong =
  /maximum context length|context (?:window|length|size)|prompt is too long|input token count .* exceeds|too many tokens/i
/** Codes and types of errors within a stream that are caused by the request. */
const refusedWithin = /^(?:invalid|image|unsupported|empty|failed_to_download)_|_policy$/
const invalidKey = /api key not valid|invalid api key|incorrect api key/i

function apiFaultOf(error: APIError, context: OpenAIErrorContext): ModelFault {
  const message = toOneLine(error.message.replace(/^\d{3} /, ''))
  const code = codeOf(error, message)
  const where = error.status === undefined ? 'in the middle of its reply' : String(error.status)
  const request = error.requestID == null ? '' : ` (request ${error.requestID})`
  return {
    code,
    message: `The model API answered ${where}: ${message}${request}`,
    hint: hintOf(code, context),
    headers: error.headers,
  }
}

function codeOf({ status, code, type }: APIError, message: string): ErrorCode {
  const byType = codesByType[code ?? ''] ?? codesByType[type ?? '']
  if (byType !== undefined) return byType
  if (status === undefined && refusedWithin.test(code ?? type ?? '')) return 'MODEL_BAD_REQUEST'
  // An error within a stream has no status. Some servers put a status into its code.
  const answered = status ?? Number(code)
  if (answered === 400 || answered === 413 || answered === 422) {
    if (contextTooLong.test(message)) return 'MODEL_CONTEXT_TOO_LONG'
    return invalidKey.test(message) ? 'MODEL_AUTH' : 'MODEL_BAD_REQUEST'
  }
  const byStatus = codesByStatus[answered]
  if (byStatus !== undefined) return byStatus
  if (answered >= 500) return 'MODEL_SERVER'
  return status === undefined ? 'MODEL_STREAM' : 'MODEL_BAD_REQUEST'
}

function hintOf(code: ErrorCode, { baseURL, model, keyVariable }: OpenAIErrorContext): string {
  switch (code) {
    case 'MODEL_AUTH':
      return keyVariable === undefined
        ? 'The server wants a key: name its environment variable in `apiKey` of the provider.'
        : `Check that ${keyVariable} is right, may use this model, and has credit.`
    case 'MODEL_NOT_FOUND':
      return `Check the base URL (${baseURL}) and the model name ("${model}").`
    case 'MODEL_CONTEXT_TOO_LONG':
      return 'The conversation no longer fits the model: print less, or begin a new run.'
    case 'MODEL_BAD_REQUEST':
      return 'The request is wrong, so trying again would not help.'
    case 'MODEL_RATE_LIMIT':
      return "The account's rate limit is reached; the call is tried again later."
    default:
      return 'Usually passes by itself; the call is tried again.'
  }
}
