import type { ErrorCode } from '../../common/errors.js'

/** What an error message may name, and the secrets it must not contain. */
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
}
