import { upsertMemo, workflowInfo } from '@temporalio/workflow'
import { memoKeys } from '../../common/names.js'
import type { AgentStatus } from '../../common/runs.js'
import type { CellOutcome } from '../../common/outcomes.js'
import { toOneLine } from '../../common/text.js'

/** Gives a run that no client of ours started (a child workflow, for one) its line in a list of runs. */
export function recordSummary(text: string): void {
  if (workflowInfo().memo?.[memoKeys.summary] !== undefined) return
  upsertMemo({ [memoKeys.summary]: toOneLine(text) })
}

/** A run that completes without success says so: Temporal's own status of it is "completed". */
export function recordOutcome(outcome: AgentStatus | CellOutcome['status']): void {
  if (outcome === 'answered' || outcome === 'ok') return
  upsertMemo({ [memoKeys.outcome]: outcome })
}
