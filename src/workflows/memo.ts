import { patched, upsertMemo, workflowInfo } from '@temporalio/workflow'
import { memoNames } from '../common/names.js'
import type { AgentStatus } from '../common/runs.js'
import type { CellOutcome } from '../common/outcomes.js'
import { summaryOf } from '../common/text.js'

/** Histories that were recorded before have no memo of the workflow's own. */
const patch = 'workflow-memo'

/** Gives a run that no client of ours started (a child workflow, for one) its line in a list of runs. */
export function describeInMemo(text: string): void {
  if (workflowInfo().memo?.[memoNames.summary] !== undefined) return
  if (patched(patch)) upsertMemo({ [memoNames.summary]: summaryOf(text) })
}

/** A run that completes without success says so: Temporal's own status of it is "completed". */
export function recordOutcome(outcome: AgentStatus | CellOutcome['status']): void {
  if (outcome === 'answered' || outcome === 'ok') return
  if (patched(patch)) upsertMemo({ [memoNames.outcome]: outcome })
}
