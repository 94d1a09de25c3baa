/** Error types of the Messages API and the status each comes with. */
export const errorStatuses = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  timeout_error: 504,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  overloaded_error: 529,
} as const

export type ApiErrorType = keyof typeof errorStatuses

/** What the real API would have answered instead of a message. */
export class ApiRefusal extends Error {
  override readonly name = 'ApiRefusal'
  readonly type: ApiErrorType
  readonly status: number

  constructor(type: ApiErrorType, message: string, status: number = errorStatuses[type]) {
    super(message)
    this.type = type
    this.status = status
  }
}

/** A 400, by far the most common one. */
export function invalid(message: string): ApiRefusal {
  return new ApiRefusal('invalid_request_error', message)
}

/** The error type the API names for a status, for faults that only give the status. */
export function errorTypeOf(status: number): ApiErrorType {
  const known = (Object.keys(errorStatuses) as ApiErrorType[]).find((type) => errorStatuses[type] === status)
  return known ?? (status >= 500 ? 'api_error' : 'invalid_request_error')
}

/** The body of every error, in the API's order of fields. */
export function errorBody(type: string, message: string, requestId: string): string {
  return JSON.stringify({ type: 'error', error: { type, message }, request_id: requestId })
}

/** `x-should-retry`, which the official clients obey before they look at the status. */
export function shouldRetry(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500
}
