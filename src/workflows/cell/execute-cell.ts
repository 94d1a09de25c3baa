import { type CancellationScope, isCancellation } from '@temporalio/workflow'
import type { CellOutcome } from '../../common/calls/outcomes.js'
import type { Run } from '../run.js'
import { toCellOutcome } from './cell-result.js'
import type { CodeRuntime } from './code-runtime.js'
import { runCell } from './run-cell.js'

/**
 * Executes a cell of a session whose caller gets the outcome with its whole output. When the engine fails during the
 * cell, the next cell starts from the state before it.
 *
 * @param scope ends the cell when it is cancelled
 * @throws CancelledFailure, and failures of the engine
 */
export async function executeCell(
  scope: CancellationScope,
  run: Run,
  runtime: CodeRuntime,
  source: string,
): Promise<CellOutcome> {
  try {
    return await scope.run(async () => toCellOutcome(await runCell(run, runtime, source), run))
  } catch (thrown) {
    if (isCancellation(thrown)) throw thrown
    runtime.pendingCalls.dropCell()
    await runtime.session.dropCell()
    throw thrown
  }
}
