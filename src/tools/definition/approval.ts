import type { Caller } from '../../common/calls/calls.js'
import type { JsonObject } from '../../common/json/json.js'
import { describeUnknownKeys } from '../../common/text/unknown-keys.js'
import type { CallingRun } from '../tool.js'
import type { InvalidError } from './invalid-tool.js'

/** The second argument of an {@link ApprovalRule}: the caller, its run, and the context of the run. */
export interface GatedCall {
  readonly caller: Caller
  readonly run: CallingRun
  /** The `context` with which the run was started, such as user and tenant. `{}` for a run without one. */
  readonly context: JsonObject
}

/** Returns true for a call that needs approval. A call whose rule throws needs approval, too. */
export type ApprovalRule<Input = never> = (input: Input, call: GatedCall) => boolean | Promise<boolean>

/**
 * Returns a text that defines the scope of an approval with `remember`: later calls of the tool with the same text need
 * none. Without this rule an approval covers only calls with the same arguments.
 */
export type RememberRule<Input = never> = (input: Input) => string

/** The members of `approval` as an object. */
export interface ApprovalOptions<Input = never> {
  /** Default `'always'`. */
  readonly rule?: 'always' | ApprovalRule<Input>
  readonly remember: RememberRule<Input>
}

/** @returns undefined members for a tool that never needs approval */
export function approvalOf(
  { approval = 'never', execution }: { readonly approval?: unknown; readonly execution?: unknown },
  invalid: InvalidError,
): { readonly approval?: 'always' | ApprovalRule; readonly rememberAs?: RememberRule } {
  if (approval === 'never') return {}
  const options: unknown = typeof approval === 'object' && approval !== null ? approval : { rule: approval }
  const { rule = 'always', remember } = options as { readonly rule?: unknown; readonly remember?: unknown }
  if (rule !== 'always' && typeof rule !== 'function') {
    throw invalid("approval must be 'never', 'always', a function of the input, or { rule, remember }")
  }
  if (typeof approval === 'object') {
    const problem = describeUnknownKeys(approval as object, ['rule', 'remember'])
    if (problem !== undefined) throw invalid(`approval: ${problem}`)
    if (typeof remember !== 'function') throw invalid('approval.remember must be a function of the input')
  }
  if (execution === 'local') {
    throw invalid("execution 'local' and approval exclude each other", 'A worker makes a local call by itself.')
  }
  return {
    approval: rule as 'always' | ApprovalRule,
    ...(typeof approval === 'object' && { rememberAs: remember as RememberRule }),
  }
}
