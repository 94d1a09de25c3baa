import { approvalKey } from '../../../common/calls/approvals.js'
import type { DecisionInput } from '../history/activity-payloads.js'
import type { RunDraft } from './draft.js'

/** Applies a decision. The caller of a deferred call gets a failure later. A denial is an outcome in the history. */
export function applyDecision(run: RunDraft, decision: DecisionInput): void {
  const { idempotencyKey, result, at } = decision
  const turn = run.turns.at(-1)
  for (const calls of [turn?.directCalls, ...[...run.cells.values()].map((cell) => cell.calls)]) {
    for (const [index, call] of calls ?? []) {
      const isApproval = call.approval?.input.type === 'approval'
      const ofApproval = isApproval && approvalKey(call.approval.input.request.idempotencyKey) === idempotencyKey
      const ofResult =
        call.activity?.input.type === 'tool' && call.activity.input.call.idempotencyKey === idempotencyKey
      if (!ofApproval && !ofResult) continue
      const failed = ofResult && result.type === 'failure'
      const outcome = failed && {
        delivered: { status: 'tool_error', message: result.message } as const,
        deliveredAt: at,
      }
      calls?.set(index, { ...call, decision, ...outcome })
      return
    }
  }
}
