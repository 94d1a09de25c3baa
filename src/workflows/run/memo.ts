import { upsertMemo, workflowInfo } from '@temporalio/workflow'
import { memoKeys } from '../../common/names.js'
import type { BudgetPause } from '../../common/budget/budget.js'
import type { AgentStatus, RunKind } from '../../common/run/runs.js'
import type { CallStatus, CellStatus } from '../../common/calls/outcomes.js'
import { toSummary } from '../../common/run/run-texts.js'

/**
 * Sets the summary of the run for lists of runs, unless the start of the run has set it. A child workflow starts
 * without one, for example.
 */
export function recordSummary(text: string): void {
  if (workflowInfo().memo?.[memoKeys.summary] !== undefined) return
  upsertMemo({ [memoKeys.summary]: toSummary(text) })
}

/** Records an outcome without success, because Temporal's status of such a run is also "completed". */
export function recordOutcome(outcome: AgentStatus | CellStatus | CallStatus): void {
  if (outcome === 'answered' || outcome === 'ok') return
  upsertMemo({ [memoKeys.outcome]: outcome })
}

/**
 * Records that a run waits for a larger budget, or with null that it no longer does. A client reads it without a
 * worker, and no other event has this information. The engine does not write to the memo of a user's workflow.
 */
export function recordPause({ kind }: { readonly kind: RunKind }, pause: BudgetPause | null): void {
  if (kind !== 'embedded') upsertMemo({ [memoKeys.paused]: pause })
}
