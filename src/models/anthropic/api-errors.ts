import type { APIError } from '@anthropic-ai/sdk'
import type { ErrorCode } from '../../common/errors.js'
import { didYouMean } from '../../common/text/unknown-keys.js'
import {
  codesByStatus,
  type ErrorContext,
  hintsByCode,
  type ModelFault,
  passes,
  toOneLine,
} from '../http/model-fault.js'
import { knownModels } from '../facts/prices.js'
import type { CodeContainer } from '../../common/agent/messages.js'

/** Hints in place of those for Anthropic's API. */
export type ErrorHints = { readonly [code in ErrorCode]?: string }

export interface MessagesErrorContext extends ErrorContext {
  /** Whether the response has begun. Default: false. */
  readonly isReading?: boolean
  /** Default: `request-id`. */
  readonly requestIdHeader?: string
  readonly hints?: ErrorHints | undefined
  /** The container in the request. */
  readonly container?: CodeContainer | undefined
}

/** The API's error types. An error within a stream has only a type, because the status was 200. */
const codesByType: Readonly<Record<string, ErrorCode>> = {
  invalid_request_error: 'MODEL_BAD_REQUEST',
  request_too_large: 'MODEL_BAD_REQUEST',
  authentication_error: 'MODEL_AUTH',
  permission_error: 'MODEL_AUTH',
  billing_error: 'MODEL_AUTH',
  not_found_error: 'MODEL_NOT_FOUND',
  conflict_error: 'MODEL_SERVER',
  rate_limit_error: 'MODEL_RATE_LIMIT',
  timeout_error: 'MODEL_TIMEOUT',
  api_error: 'MODEL_SERVER',
  overloaded_error: 'MODEL_OVERLOADED',
  // Error type of Bedrock.
  validationException: 'MODEL_BAD_REQUEST',
  throttlingException: 'MODEL_RATE_LIMIT',
  internalServerException: 'MODEL_SERVER',
  modelStreamErrorException: 'MODEL_STREAM',
  modelTimeoutException: 'MODEL_TIMEOUT',
  serviceUnavailableException: 'MODEL_OVERLOADED',
}

const contextTooLong = /(?:prompt|input) is too long|exceeds? (?:the )?(?:context|maximum context)|context window/i
const unknownModel = /model identifier is invalid/i
const spendLimit = /credit balance|spend(?:ing)? limit|usage limits?/i

/** The fault of an API error: an HTTP status with a body, or an `error` event within a stream. */
export function apiFaultOf(error: APIError, context: MessagesErrorContext): ModelFault {
  const apiMessage = apiMessageOf(error)
  const refused = codeOf(error, apiMessage)
  const code = isContainerGone(error, refused, apiMessage, context) ? 'MODEL_CONTAINER_EXPIRED' : refused
  const where = error.status === undefined ? 'in the middle of its reply' : String(error.status)
  const requestId = error.headers?.get(context.requestIdHeader ?? 'request-id')
  const request = requestId ? ` (request ${requestId})` : ''
  return {
    code,
    message: `The model API answered ${where}: ${apiMessage}${request}`,
    hint: hintOf(code, apiMessage, context),
  }
}

/**
 * Whether the container of a request may be gone. The API refuses a lost container with a 400 or 404, or with an
 * untyped 500, also within the 30 days for which it promises to restore it. A repeated request may also answer calls of
 * code that has continued. So every bad request with a container counts: the next request, without the container, is
 * either answered or refused permanently.
 */
function isContainerGone(
  { status }: APIError,
  code: ErrorCode,
  apiMessage: string,
  { container }: MessagesErrorContext,
): boolean {
  if (!container) return false
  if (status === 400) return code === 'MODEL_BAD_REQUEST'
  if (status === 404) return /container/i.test(apiMessage)
  return status === 500 && container.expiresAt !== null && Date.parse(container.expiresAt) <= Date.now()
}

function codeOf({ status, type, errorCode }: APIError, apiMessage: string): ErrorCode {
  // A spend limit is not retryable, with any status.
  if (errorCode?.endsWith('spend_limit_reached') === true) return 'MODEL_AUTH'
  if (status === undefined) return streamedCodeOf(type, apiMessage)
  if (status === 400 && contextTooLong.test(apiMessage)) return 'MODEL_CONTEXT_TOO_LONG'
  if (status === 400 && unknownModel.test(apiMessage)) return 'MODEL_NOT_FOUND'
  const byStatus = codesByStatus[status]
  if (byStatus !== undefined) return byStatus
  if (status >= 500) return type === 'overloaded_error' ? 'MODEL_OVERLOADED' : 'MODEL_SERVER'
  return 'MODEL_BAD_REQUEST'
}

function streamedCodeOf(type: string | null, apiMessage: string): ErrorCode {
  const code = codesByType[type ?? ''] ?? 'MODEL_STREAM'
  return code === 'MODEL_BAD_REQUEST' && contextTooLong.test(apiMessage) ? 'MODEL_CONTEXT_TOO_LONG' : code
}

function apiMessageOf(error: APIError): string {
  return toOneLine(error.apiMessage ?? error.message.replace(/^\d{3} /, ''))
}

type Hint = string | ((context: MessagesErrorContext) => string)

const hints: { readonly [code in ErrorCode]?: Hint } = {
  ...hintsByCode,
  MODEL_AUTH: 'Check that ANTHROPIC_API_KEY (or ANTHROPIC_AUTH_TOKEN) is right and may use this model.',
  MODEL_NOT_FOUND: ({ model, baseURL }) =>
    `Check the base URL (${baseURL}) and the model name ("${model}")${didYouMean(model, knownModels) || '.'}`,
  MODEL_CONTAINER_EXPIRED: 'The run continues with a new container.',
}

function hintOf(code: ErrorCode, apiMessage: string, context: MessagesErrorContext): string {
  if (spendLimit.test(apiMessage))
    return 'The account may not spend more: add credit or raise its limit in the console.'
  const hint = hints[code] ?? passes
  return typeof hint === 'string' ? hint : hint(context)
}
