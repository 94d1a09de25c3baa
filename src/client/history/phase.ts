import type { RunDraft } from './draft.js'
import type { ActivityRecord } from './activity-log.js'
import type { RunEnd } from './run-log.js'
import type { Phase } from './tree.js'
import { runningCell } from './walk.js'

/** What a run does right now: the open activity that people wait for most. */
export function phaseOf(run: RunDraft, activities: readonly ActivityRecord[], end: RunEnd | undefined): Phase {
  if (end) return { type: 'ended' }
  const open = activities.filter((activity) => !activity.end)
  const cell = runningCell(run)?.number
  for (const { work } of open) {
    if (work.type === 'plan') return { type: 'starting' }
    if (work.type === 'model') return { type: 'model', turn: work.turn }
    if (work.type === 'open') return opening(work.after, cell)
    if (work.type === 'advance') {
      return work.step && cell !== undefined ? { type: 'running_code', cell } : { type: 'rebuilding', cell }
    }
  }
  const calls = open.filter(({ work }) => work.type === 'tool').length + unscheduled(run)
  if (calls > 0) return { type: 'waiting_for_calls', open: calls }
  return activities.length === 0 ? { type: 'starting' } : { type: 'deciding' }
}

function opening(after: 'nothing' | 'parking' | 'loss', cell: number | undefined): Phase {
  if (after === 'nothing') return { type: 'opening_sandbox' }
  return { type: after === 'parking' ? 'waking' : 'rebuilding', cell }
}

/** Calls that the running cell has made and that have no activity yet: they wait for a free place, or for a moment. */
function unscheduled(run: RunDraft): number {
  const calls = [...(runningCell(run)?.calls.values() ?? [])]
  return calls.filter(({ activity, told, described }) => !activity && !told && !described?.refused).length
}
