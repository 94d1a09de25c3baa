import { type CallDraft, isDeferred, type RunDraft } from './draft.js'
import type { ActivityRecord } from '../history/activity-record.js'
import type { RunEnd } from '../history/execution-log.js'
import type { Phase } from '../tree.js'
import { runningCell } from './replay-activities.js'

/**
 * Returns the current phase of a run, from its most important open activity.
 *
 * @param settledCount number of the first activities that have ended
 */
export function phaseOf(
  run: RunDraft,
  activities: readonly ActivityRecord[],
  settledCount: number,
  end: RunEnd | undefined,
  isPaused: boolean,
): Phase {
  if (end) return { type: 'ended' }
  if (isPaused) return { type: 'paused' }
  const openActivities = activities.slice(settledCount).filter((activity) => !activity.end)
  const { number: cell, owner } = runningCell(run) ?? {}
  for (const { input } of openActivities) {
    if (input.type === 'config') return { type: 'starting' }
    if (input.type === 'model' || input.type === 'compaction') return { type: 'model', turn: input.turn }
    if (input.type === 'open') return openingPhase(input.reason, cell)
    if (input.type === 'compensation') return { type: 'compensating' }
    if (input.type === 'files' || (input.type === 'step' && input.step?.input.type === 'file'))
      return { type: 'moving_files' }
    if (input.type === 'step') {
      return input.step && cell !== undefined ? { type: 'running_code', cell } : { type: 'rebuilding', cell }
    }
  }
  const calls = openActivities.filter(({ input }) => input.type === 'tool').length + countWaitingCalls(run)
  if (calls > 0) return { type: 'waiting_for_calls', open: calls }
  if (owner && cell !== undefined) return { type: 'running_code', cell }
  return activities.length === 0 ? { type: 'starting' } : { type: 'deciding' }
}

function openingPhase(reason: 'new' | 'unpark' | 'rebuild', cell: number | undefined): Phase {
  if (reason === 'new') return { type: 'opening_sandbox' }
  return { type: reason === 'unpark' ? 'waking' : 'rebuilding', cell }
}

/**
 * Counts the calls without an open activity: they wait for a free slot, for the next workflow task, or for a result
 * from outside.
 */
function countWaitingCalls(run: RunDraft): number {
  const calls = [...(runningCell(run)?.calls.values() ?? [])]
  const notScheduled = calls.filter(isWithoutActivity)
  const direct = [...(run.turns.at(-1)?.directCalls.values() ?? [])]
  const withoutSlot = direct.filter(
    (call) => isWithoutActivity(call) && (call.approval || waitsForLimiter(run.tools.get(call.described?.tool ?? ''))),
  )
  return notScheduled.length + withoutSlot.length + [...calls, ...direct].filter(isDeferredWaiting).length
}

function waitsForLimiter(tool: ReturnType<RunDraft['tools']['get']>): boolean {
  return tool?.concurrency !== undefined || tool?.lock !== undefined
}

function isWithoutActivity({ activity, delivered, described }: CallDraft): boolean {
  return !activity && !delivered && !described?.refused
}

function isDeferredWaiting(call: CallDraft): boolean {
  if (call.question) return !call.delivered
  return isDeferred(call) && call.activity?.end?.type === 'completed' && !call.delivered && !call.check
}
