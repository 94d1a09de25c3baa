import type { CallerIdentity, ToolCallInput } from './calls.js'
import type { DeferredInput } from './deferred-calls.js'
import type { JsonObject, JsonValue } from '../json/json.js'

/** Input of activity `tool.approval`: asks whether a call needs approval, and requests it. */
export interface RequestApprovalInput extends ToolCallInput, CallerIdentity {
  /** One line for people. */
  readonly summary: string
  /** For the completion token: the approval is an update like the result of a deferred call. */
  readonly deferred: DeferredInput
  /** Milliseconds until the request expires. */
  readonly expiresMs: number
}

export interface RequestApprovalResult {
  readonly isNeeded: boolean
}

/** The value that completes a request for approval. A failure denies the call. */
export interface Approval {
  readonly approved: true
  /** Replace the arguments of the call. */
  readonly arguments?: JsonObject
  /** Later calls of this tool in this run need no approval. */
  readonly remember?: true
}

/** The approvals of a run for the next execution of the continue-as-new chain. */
export interface ApprovalsState {
  /** Calls that were approved and have not ended, by idempotency key, with the arguments that replace theirs. */
  readonly approved: Readonly<Record<string, JsonObject | null>>
  /** Tools whose later calls need no approval. */
  readonly remembered: readonly string[]
}

/** The key of the wait for approval of a call: a token for it completes nothing else. */
export function approvalKey(idempotencyKey: string): string {
  return `${idempotencyKey}/approval`
}

/** Whether a key is of {@link approvalKey}. */
export function isApprovalKey(key: string): boolean {
  return key.endsWith('/approval')
}

/** Undefined for a value that is no approval. */
export function parseApproval(value: JsonValue): Approval | undefined {
  if (!isObject(value)) return undefined
  const { approved, arguments: args, remember, ...others } = value
  if (approved !== true || (remember !== undefined && remember !== true)) return undefined
  if ((args !== undefined && !isObject(args)) || Object.keys(others).length > 0) return undefined
  return { approved, ...(args && { arguments: args }), ...(remember && { remember }) }
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
