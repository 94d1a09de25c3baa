import { type ErrorCode, messageOf, PtcError } from '../../common/errors.js'
import {
  codesByStatus,
  connectionFault,
  type ErrorContext,
  hintsByCode,
  type ModelFault,
  passes,
  toModelError,
  toOneLine,
  unknownFault,
} from '../http/model-fault.js'
import { networkFaultOf } from '../http/network-errors.js'
import { causesOf } from '../http/redact.js'
import { ApiError } from './wire/api-error.js'

interface AiSdkErrorContext extends ErrorContext {
  /** The environment variable with the key; undefined for a server without a key. */
  readonly keyVariable: string | undefined
}

/** The error of the exchange or of the engine, which a package of the AI SDK may have wrapped. */
export function unwrap(thrown: unknown): unknown {
  return causesOf(thrown).find((cause) => PtcError.isInstance(cause) || cause instanceof ApiError) ?? thrown
}

/** Assigns a code to an error of the API, of the AI SDK or of the network. A PtcError is returned unchanged. */
export function modelErrorOf(thrown: unknown, context: AiSdkErrorContext): Error {
  const error = unwrap(thrown)
  if (PtcError.isInstance(error)) return error
  // The message of the AI SDK about a value contains the whole value.
  const isLong = causesOf(thrown).some(({ message }) => message.length > maxCauseCharacters)
  return toModelError(faultOf(error, context), isLong ? undefined : thrown, context)
}

const maxCauseCharacters = 2_000

/** Errors of the AI SDK, by their names. */
const codesByName: Readonly<Record<string, ErrorCode>> = {
  AI_LoadAPIKeyError: 'MODEL_AUTH',
  AI_LoadSettingError: 'MODEL_AUTH',
  AI_UnsupportedFunctionalityError: 'MODEL_BAD_REQUEST',
  AI_InvalidPromptError: 'MODEL_BAD_REQUEST',
  AI_InvalidArgumentError: 'MODEL_BAD_REQUEST',
  AI_TypeValidationError: 'MODEL_REPLY_INVALID',
  AI_JSONParseError: 'MODEL_REPLY_INVALID',
  AI_InvalidResponseDataError: 'MODEL_REPLY_INVALID',
  AI_EmptyResponseBodyError: 'MODEL_REPLY_INVALID',
}

function faultOf(thrown: unknown, context: AiSdkErrorContext): ModelFault {
  if (thrown instanceof ApiError) return apiFaultOf(thrown, context)
  const network = networkFaultOf(thrown, context)
  if (network !== undefined) return network
  const message = toOneLine(messageOf(thrown))
  // Such a message has the key in it.
  if (/header value|to a ByteString/i.test(message))
    return { code: 'MODEL_AUTH', message: "The API key has a character that can't be sent.", hint: keyHint }
  const named = causesOf(thrown).find(({ name }) => name in codesByName)
  const code = named && codesByName[named.name]
  if (named && code) return { code, message: toOneLine(named.message), hint: hintOf(code, context) }
  if (thrown instanceof Error) {
    return thrown.name === 'AI_APICallError' ? { ...connectionFault(context), message } : unknownFault(message)
  }
  // An exception in the event stream of Bedrock, which is no Error.
  const said = toOneLine(new ApiError(undefined, thrown, new Headers()).message)
  return { code: 'MODEL_STREAM', message: `The model API answered in the middle of its reply: ${said}`, hint: passes }
}

const keyHint = 'Set it again without line breaks and quotes.'
const codesByType: Readonly<Record<string, ErrorCode>> = {
  context_length_exceeded: 'MODEL_CONTEXT_TOO_LONG',
  model_not_found: 'MODEL_NOT_FOUND',
  invalid_api_key: 'MODEL_AUTH',
  // The account has reached its spend limit: not retryable, although the status is 429.
  insufficient_quota: 'MODEL_AUTH',
  billing_hard_limit_reached: 'MODEL_AUTH',
  rate_limit_exceeded: 'MODEL_RATE_LIMIT',
  server_error: 'MODEL_SERVER',
  // The policy of Azure has refused the prompt.
  content_filter: 'MODEL_BAD_REQUEST',
}

const contextTooLong =
  /maximum context length|context (?:window|length|size)|(?:prompt|input) is too long|input token count .* exceeds|too many tokens|too large for model/i

/** Codes and types of errors within a stream that are caused by the request. */
const refusedWithin = /^(?:invalid|image|unsupported|empty|failed_to_download)_|_policy$/

const invalidKey = /api key not valid|invalid api key|incorrect api key/i

const requestIds = ['x-request-id', 'request-id', 'x-amzn-requestid', 'apim-request-id']

export function requestIdIn(headers: Headers | undefined): string | null {
  return requestIds.map((name) => headers?.get(name)).find((id) => id != null) ?? null
}

function apiFaultOf(error: ApiError, context: AiSdkErrorContext): ModelFault {
  const message = toOneLine(error.message)
  const code = codeOf(error, message)
  const where = error.status === undefined ? 'in the middle of its reply' : String(error.status)
  const requestId = requestIdIn(error.headers)
  return {
    code,
    message: `The model API answered ${where}: ${message}${requestId === null ? '' : ` (request ${requestId})`}`,
    hint: hintOf(code, context),
    headers: error.headers,
  }
}

/** Servers give codes as texts or numbers. */
function textOf(code: unknown): string {
  return typeof code === 'string' || typeof code === 'number' ? String(code) : ''
}

function codeOf({ status, details }: ApiError, message: string): ErrorCode {
  const [code, type] = [details['code'], details['type']].map(textOf)
  const byType = codesByType[code ?? ''] ?? codesByType[type ?? '']
  if (byType !== undefined) return byType
  if (status === undefined && refusedWithin.test(code || type || '')) return 'MODEL_BAD_REQUEST'
  // An error within a stream has no status. Some servers put a status into its code.
  const answered = status ?? Number(code || Number.NaN)
  if (answered === 400 || answered === 413 || answered === 422) {
    if (contextTooLong.test(message)) return 'MODEL_CONTEXT_TOO_LONG'
    return invalidKey.test(message) ? 'MODEL_AUTH' : 'MODEL_BAD_REQUEST'
  }
  if (answered === 503) return 'MODEL_OVERLOADED'
  const byStatus = codesByStatus[answered]
  if (byStatus !== undefined) return byStatus
  if (answered >= 500) return 'MODEL_SERVER'
  return status === undefined ? 'MODEL_STREAM' : 'MODEL_BAD_REQUEST'
}

function hintOf(code: ErrorCode, { baseURL, model, keyVariable }: AiSdkErrorContext): string {
  if (code === 'MODEL_NOT_FOUND') return `Check the base URL (${baseURL}) and the model name ("${model}").`
  if (code !== 'MODEL_AUTH') return hintsByCode[code] ?? passes
  return keyVariable === undefined
    ? 'The server wants a key: name its environment variable in `apiKey` of the provider.'
    : `Check that ${keyVariable} is right, may use this model, and has credit.`
}
