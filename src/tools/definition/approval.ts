import { describeUnknownKeys } from '../../common/text/unknown-keys.js'
import type { Tool } from '../tool.js'
import type { ApprovalRule, RememberRule } from '../tool-definition.js'
import type { OptionBasis } from './option-basis.js'

/** @returns undefined members for a tool that never needs approval */
export function approvalOf({
  definition: { approval = 'never', execution },
  invalid,
}: OptionBasis): Pick<Tool, 'approval' | 'approvalRule' | 'rememberAs'> {
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
    approval: true,
    ...(typeof rule === 'function' && { approvalRule: rule as ApprovalRule }),
    ...(typeof approval === 'object' && { rememberAs: remember as RememberRule }),
  }
}
