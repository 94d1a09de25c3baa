import type { RunConfigInput } from '../../common/runs/runs.js'
import { handleCompletions } from '../cell/complete-call.js'
import { handleSlotAnswers } from '../cell/tool-slots.js'
import { type Run, startEmbeddedRun } from '../run.js'

/** Number of runs that this workflow has opened. */
let opened = 0

/** Their deferred calls may be completed, and their calls get slots of tools. */
const openRuns = new Set<Run>()

/**
 * Opens a run inside this workflow, with an identity of its own.
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
