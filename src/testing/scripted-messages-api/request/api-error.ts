/** Error types of the Messages API and their HTTP status. */
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

/** An error reply of the Messages API. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  readonly type: ApiErrorType
  readonly status: number

  constructor(type: ApiErrorType, message: string, status: number = errorStatuses[type]) {
    super(message)
    this.type = type
    this.status = status
  }
}

/** A 400, the most common error. */
export function invalidRequest(message: string): ApiError {
  return new ApiError('invalid_request_error', message)
}
