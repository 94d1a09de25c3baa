import type { Caller } from '../../common/calls/calls.js'
import type { JsonObject } from '../../common/json/json.js'
import type { CallingRun } from '../tool.js'
import type { InvalidError } from './invalid-tool.js'

/** Second argument of an {@link ApprovalRule}: who makes the call. */
export interface GatedCall {
  readonly caller: Caller
  readonly run: CallingRun
  /** The `context` that the run was started with, such as user and tenant. `{}` for a run without one. */
  readonly context: JsonObject
}

/** True for a call that needs approval. A rule that throws needs it. */
export type ApprovalRule<Input = never> = (input: Input, call: GatedCall) => boolean | Promise<boolean>

/** @returns undefined for a tool that never needs approval */
export function approvalOf(
  { approval = 'never', execution }: { readonly approval?: unknown; readonly execution?: unknown },
  invalid: InvalidError,
): { readonly approval?: 'always' | ApprovalRule } {
  if (approval === 'never') return {}
  if (approval !== 'always' && typeof approval !== 'function') {
    throw invalid("approval must be 'never', 'always' or a function of the input")
  }
  if (execution === 'local') {
    throw invalid("execution 'local' and approval exclude each other", 'A worker makes a local call by itself.')
  }
  return { approval: approval as 'always' | ApprovalRule }
}
