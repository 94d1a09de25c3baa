import { activityInfo, log } from '@temporalio/activity'
import {
  approvalKey,
  maxRememberKeyCharacters,
  type RequestApprovalInput,
  type RequestApprovalResult,
} from '../../common/calls/approvals.js'
import { rejectOnUncaught, runWork } from '../../common/async/uncaught-errors.js'
import { defined } from '../../common/defined.js'
import { messageOf, PtcError } from '../../common/errors.js'
import { failpoint } from '../../common/failpoint.js'
import type { ApprovalRequest } from '../../config/options/approvals.js'
import type { Tool } from '../../tools/tool.js'
import type { GatedCall } from '../../tools/tool-definition.js'
import { describeThrown } from '../../tools/calls/thrown.js'
import { encodeCompletionToken } from '../../common/calls/completion-token.js'
import type { DeferredInput } from '../../common/calls/deferred-calls.js'
import { parseArguments } from '../../tools/validation/check-arguments.js'
import { type ActivityParts, runActivity } from '../run-activity.js'
import { type EventSinks, Observer } from '../observe.js'
import { callFields } from './observe-call.js'
import { loadArguments } from './prepare-arguments.js'

export interface ApprovalParts extends ActivityParts, EventSinks {
  /** The hook of the configuration. After an error of the hook, the activity is retried. */
  readonly onApprovalRequest?: ((request: ApprovalRequest) => void | Promise<void>) | undefined
}

/**
 * Activity `tool.approval`: applies the rule of a tool to a call, and notifies people of a call that needs approval.
 *
 * @throws PtcError TOOL_NOT_REGISTERED, APPROVAL_REQUEST_FAILED, and errors of the value store
 */
export function requestApproval({ registry, values, onApprovalRequest, ...sinks }: ApprovalParts) {
  return (input: RequestApprovalInput): Promise<RequestApprovalResult> =>
    runActivity(async (scope) => {
      const { signal, workflowId, runId } = scope
      const { tool: name, summary, caller, agent, context = {}, deferred, expiresMs } = input
      const args = await loadArguments(values, input, signal)
      const run = { namespace: activityInfo().namespace, workflowId, runId, agent }
      let rememberAs: string | undefined
      if (!input.isNeeded) {
        const tool = registry.get(name)
        if (tool === undefined) {
          throw new PtcError('TOOL_NOT_REGISTERED', `this worker has no tool named ${name}`)
        }
        const parsed = await parseArguments(tool, args)
        if (!(await needsApproval(tool, parsed, { caller, run, context }))) return { isNeeded: false }
        rememberAs = parsed.ok ? rememberKeyOf(tool, parsed.value) : undefined
        if (rememberAs !== undefined && input.remembered?.includes(rememberAs)) return { isNeeded: false }
      }
      const token = completionTokenOf(approvalKey(input.idempotencyKey), deferred)
      const request = { tool: name, summary, arguments: args, caller, run, context, token, expiresMs }
      try {
        await rejectOnUncaught({ name: `approvals.onRequest for ${name}` }, () =>
          onApprovalRequest?.(structuredClone(request)),
        )
      } catch (cause) {
        throw new PtcError('APPROVAL_REQUEST_FAILED', `the approval of ${name} could not be requested`, { cause })
      }
      failpoint('approval.requested')
      const observer = new Observer(sinks, scope, { unit: `approval/${input.idempotencyKey}` })
      await observer.publish({ type: 'approval.requested', ...callFields(input), summary })
      return { isNeeded: true, ...defined({ rememberAs }) }
    })
}

async function needsApproval(
  tool: Tool,
  input: Awaited<ReturnType<typeof parseArguments>>,
  call: GatedCall,
): Promise<boolean> {
  const { name, approval, approvalRule } = tool
  if (!approvalRule) return approval === true
  // The tool itself refuses these arguments. A refusal that is undecided may differ in another process.
  if (!input.ok) return input.refusal.isUndecided === true
  try {
    const applyRule = () => approvalRule(input.value as never, structuredClone(call))
    return await rejectOnUncaught({ name: `the approval rule of ${name}` }, applyRule)
  } catch (thrown) {
    log.warn(`the approval rule of ${tool.name} threw: the call needs approval`, { error: describeThrown(thrown) })
    return true
  }
}

/** Returns the key under which an approval is remembered. Undefined: it is remembered only for the same arguments. */
function rememberKeyOf(tool: Tool, input: Readonly<Record<string, unknown>>): string | undefined {
  try {
    // The promise of an asynchronous function may reject later. Nothing depends on it.
    const work = { name: `approval.remember of ${tool.name}`, fail: () => false }
    const key: unknown = runWork(work, () => tool.rememberAs?.(input as never))
    if (typeof key === 'string' && key.length <= maxRememberKeyCharacters) return key
    if (key !== undefined) log.warn(`approval.remember of ${tool.name} returned no text that is short enough`)
  } catch (thrown) {
    log.warn(`approval.remember of ${tool.name} threw`, { error: messageOf(thrown) })
  }
  return undefined
}

/** Returns the token that completes a call of the workflow of this activity. */
export function completionTokenOf(idempotencyKey: string, deferred: DeferredInput): string {
  const { namespace, workflowExecution } = activityInfo()
  const workflowId = workflowExecution?.workflowId ?? ''
  return encodeCompletionToken({ namespace, workflowId, idempotencyKey, ...deferred })
}
