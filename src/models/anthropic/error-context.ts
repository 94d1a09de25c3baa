import type { ErrorCode } from '../../common/errors.js'
import type { CodeContainer } from '../../common/agent/messages.js'
import type { ErrorContext } from '../http/model-fault.js'

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
