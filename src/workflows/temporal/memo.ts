import { upsertMemo, workflowInfo } from '@temporalio/workflow'
import { memoKeys } from '../../common/names.js'
import type { AgentStatus } from '../../common/runs/runs.js'
import type { CellOutcome } from '../../common/calls/outcomes.js'
import { toSummary } from '../../common/runs/run-texts.js'

/**
 * Gives the run its line in lists of runs, unless its starter did. A child workflow starts without one, for example.
 */
export function recordSummary(text: string): void {
  if (workflowInfo().memo?.[memoKeys.summary] !== undefined) return
  upsertMemo({ [memoKeys.summary]: toSummary(text) })
}

/** Records an outcome without success: Temporal's status of such a run is "completed", too. */
export function recordOutcome(outcome: AgentStatus | CellOutcome['status']): void {
  if (outcome === 'answered' || outcome === 'ok') return
  upsertMemo({ [memoKeys.outcome]: outcome })
}
