import type { RunConfigInput } from '../../common/runs/runs.js'
import { handleCompletions } from '../calls/complete-call.js'
import { handleSlotAnswers } from '../calls/tool-slots.js'
import { type Run, startEmbeddedRun } from '../run/run.js'

/** Counts the runs that this workflow has opened. The number is part of the identity of the next run. */
let opened = 0

/** The handlers of this workflow look for a completed deferred call, and for a call that got a slot, in these runs. */
const openRuns = new Set<Run>()

/**
 * Opens a run inside this workflow. The run has its own identity.
 *
 * @throws ActivityFailure when the configuration can't be read
 */
export async function openEmbeddedRun(options: RunConfigInput): Promise<Run> {
  opened += 1
  const run = await startEmbeddedRun(options, opened)
  openRuns.add(run)
  handleCompletions(() => [...openRuns].map(({ deferredCalls }) => deferredCalls))
  handleSlotAnswers(() => [...openRuns].map(({ toolSlots }) => toolSlots))
  return run
}

export function closeEmbeddedRun(run: Run): void {
  openRuns.delete(run)
}
