/*
 * The stage of calls that a person must approve before they start.
 *
 * Owns: the request for an approval, what a decision means for the call, and the approvals that a run remembers for
 * later calls. `completions.ts` has expiry and tokens: an approval is completed like the result of a deferred call.
 *
 * Invariants:
 * 1. A call of a tool with a rule starts only after activity `tool.approval` has said that it needs no approval, or
 *    after an approval.
 * 2. A request is made once for each call: a rebuild, a reset and continue-as-new find the call by its idempotency key.
 * 3. A run remembers the arguments that a person approved, or the key that the tool derives from them. It never
 *    remembers only the name of a tool.
 */

import { workflowInfo } from '@temporalio/workflow'
import { approvalKey, parseApproval } from '../../../common/calls/approvals.js'
import { callDigest } from '../../../common/calls/call-identity.js'
import { callerIdentity } from '../../../common/calls/calls.js'
import { describeReport, noCompensations } from '../../../common/calls/compensation.js'
import type { CallOutcome } from '../../../common/calls/outcomes.js'
import { defined } from '../../../common/defined.js'
import { approvalActivityId } from '../../../common/names.js'
import { requestApproval } from '../../temporal/activities.js'
import { activityErrorOf } from '../../temporal/failures.js'
import { denied } from '../admission.js'
import { toolKey } from './remembered-approvals.js'
import type { AdmittedCall, Next, Stage } from '../run-call.js'
import { outcomeOf, type WaitingCall } from '../waiting-calls.js'

export const approval: Stage = (call, next) =>
  call.tool.approval || call.needsApproval || isDeciding(call) ? startApproved(call, next) : next(call)

/** Whether the call waited for its approval in the execution before this one. */
function isDeciding({ calls, idempotencyKey }: AdmittedCall): boolean {
  const type = calls.waiting.get(idempotencyKey)?.state.type
  return type === 'approval' || type === 'decided'
}

async function startApproved(call: AdmittedCall, next: Next): Promise<CallOutcome> {
  const { waiting, approvals } = call.calls
  const known = waiting.get(call.idempotencyKey)
  // A call that waits keeps waiting, even when the run has remembered an approval meanwhile.
  // A rule on data is about what the run has read until now, so no earlier approval counts.
  if (!known && !call.needsApproval && approvals.has(call.described.digest)) return next(call)
  const waitingCall = known ?? waiting.add(call.input)
  const failed = known ? undefined : await call.inSlotOfRun(() => request(call, waitingCall)) // invariant 2
  const refused = failed ?? (await waitForDecision(call, waitingCall)) // invariant 1
  if (refused) return refused
  const args = waitingCall.approved?.arguments
  if (args) call.useArguments(args)
  return next(call)
}

/** Returns undefined when the call waits, has a decision already, or needs no approval. */
async function request(call: AdmittedCall, waitingCall: WaitingCall): Promise<CallOutcome | undefined> {
  const { calls, run, position } = call
  const { config } = run
  const { expiresMs } = config.approvals
  const { firstExecutionRunId } = workflowInfo()
  const signature = calls.completions.sign(approvalKey(call.idempotencyKey))
  const remembered = calls.approvals.keysOf(call.tool.name)
  const input = {
    ...call.input,
    summary: call.described.summary,
    ...callerIdentity(config),
    deferred: { firstExecutionRunId, signature },
    expiresMs,
    ...(remembered.length > 0 && { remembered }),
    ...(call.needsApproval && { isNeeded: true as const }),
  }
  calls.waiting.apply(waitingCall, { type: 'ask' })
  try {
    const { isNeeded, rememberAs } = await requestApproval(input, config.timeouts, approvalActivityId(position))
    if (isNeeded) {
      if (rememberAs !== undefined) waitingCall.rememberAs = rememberAs
      const since = Date.now()
      calls.waiting.apply(waitingCall, { type: 'wait', since, expiresAt: since + expiresMs })
      return undefined
    }
  } catch (thrown) {
    await calls.completions.waitWhileDeciding(waitingCall)
    const { message } = activityErrorOf(thrown)
    return outcomeOf(waitingCall) ? undefined : denied(`${call.tool.name}: ${message}`)
  }
  await calls.completions.waitWhileDeciding(waitingCall)
  waitingCall.approved = {}
  calls.waiting.apply(waitingCall, { type: 'proceed' })
  return undefined
}

/** Returns undefined when the call is approved, or needs no approval. */
async function waitForDecision(call: AdmittedCall, waitingCall: WaitingCall): Promise<CallOutcome | undefined> {
  const { waiting, approvals } = call.calls
  const { state } = waitingCall
  if (state.type !== 'approval' && state.type !== 'decided') return undefined
  if (state.type === 'approval') call.report({ for: 'approval', since: state.since, expiresAt: state.expiresAt })
  const outcome = await waiting.waitForOutcome(waitingCall)
  call.report(undefined)
  if (outcome.status === 'denied') {
    // The state keeps the decision: the run may continue as new during the compensation.
    const report = outcome.compensates ? await compensate(call) : ''
    return denied(`${outcome.message}${report}`)
  }
  if (outcome.status !== 'ok') return outcome
  const { arguments: args, remember } = parseApproval(outcome.value) ?? {}
  waitingCall.approved = defined({ arguments: args })
  waiting.apply(waitingCall, { type: 'proceed' })
  if (!remember) return undefined
  const { name } = call.tool
  approvals.remember(args ? callDigest(name, args) : call.described.digest) // invariant 3
  // The key is that of the arguments that the code gave, not of those that replace them.
  if (waitingCall.rememberAs !== undefined && !args) approvals.remember(toolKey(name, waitingCall.rememberAs))
  return undefined
}

/** Compensates the calls of the run before this one. Returns a report for the code and the model. */
async function compensate(call: AdmittedCall): Promise<string> {
  const { compensations } = call.calls
  await call.inSlotOfRun(() => compensations.compensateCompleted())
  return ` (${describeReport(compensations.report ?? noCompensations)})`
}
