import { type ApiErrorType, errorStatuses } from '../request/api-error.js'

/** The error type that the API uses for a status, for faults that give only the status. */
export function errorTypeForStatus(status: number): ApiErrorType {
  const known = (Object.keys(errorStatuses) as ApiErrorType[]).find((type) => errorStatuses[type] === status)
  return known ?? (status >= 500 ? 'api_error' : 'invalid_request_error')
}

/** The body of an error, with the API's order of fields. */
export function errorBody(type: string, message: string, requestId: string): string {
  return JSON.stringify({ type: 'error', error: { type, message }, request_id: requestId })
}

/** Value of `x-should-retry`, which the official clients prefer to the status. */
export function shouldRetry(status: number): boolean {
  return status === 408 || status === 409 || status === 429 || status >= 500
}
