import { defined } from '../defined.js'
import type { CallerIdentity, ToolCallInput } from './calls.js'
import type { DeferredInput } from './deferred-calls.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../json/json.js'

/** Input of activity `tool.approval`: asks whether a call needs approval, and requests it. */
export interface RequestApprovalInput extends ToolCallInput, CallerIdentity {
  /** A description of the call for people, on one line. */
  readonly summary: string
  /** Data for the completion token: the approval is an update like the result of a deferred call. */
  readonly deferred: DeferredInput
  /** Milliseconds until the request expires. */
  readonly expiresMs: number
  /** Keys of the tool's `approval.remember` that a person has approved for later calls. Absent: none. */
  readonly remembered?: readonly string[]
  /** A rule on data needs the approval, whatever the tool says. */
  readonly isNeeded?: true
}

export interface RequestApprovalResult {
  readonly isNeeded: boolean
  /**
   * The key of the tool's `approval.remember` for a call that needs approval. Absent: only its arguments are
   * remembered.
   */
  readonly rememberAs?: string
}

/** Longer keys of a tool's `approval.remember` are ignored. */
export const maxRememberKeyCharacters = 200

/** The value that completes a request for approval. A failure denies the call. */
export interface Approval {
  readonly approved: true
  /** Arguments that replace those of the call. */
  readonly arguments?: JsonObject
  /** Later calls of this tool with the same arguments in this run need no approval. */
  readonly remember?: true
}

/** The key of the wait for approval of a call: a token for it completes nothing else. */
export function approvalKey(idempotencyKey: string): string {
  return `${idempotencyKey}/approval`
}

/** Returns whether a key is a result of {@link approvalKey}. */
export function isApprovalKey(key: string): boolean {
  return key.endsWith('/approval')
}

/** Returns undefined for a value that is not an approval. */
export function parseApproval(value: JsonValue): Approval | undefined {
  if (!isJsonObject(value)) return undefined
  const { approved, arguments: args, remember, ...others } = value
  if (approved !== true || (remember !== undefined && remember !== true)) return undefined
  if ((args !== undefined && !isJsonObject(args)) || Object.keys(others).length > 0) return undefined
  return { approved, ...defined({ arguments: args }), ...(remember && { remember }) }
}
