import { type CancellationScope, isCancellation } from '@temporalio/workflow'
import type { CellOutcome } from '../../common/calls/outcomes.js'
import { toCellOutcome } from './cell-result.js'
import type { CodeRuntime } from './code-runtime.js'
import { runCell } from './run-cell.js'

/**
 * Executes a cell of a session. The caller gets the outcome with the whole output.
 *
 * @param scope ends the cell when it is cancelled
 * @throws CancelledFailure, and failures of the engine
 */
export function executeCell(scope: CancellationScope, runtime: CodeRuntime, source: string): Promise<CellOutcome> {
  return runOrDrop(scope, runtime, async () => toCellOutcome(await runCell(runtime, source), runtime.run))
}

/**
 * Runs a cell. When the engine fails during the cell, the next cell starts from the state before it.
 *
 * @param scope ends the cell when it is cancelled
 * @throws CancelledFailure, and failures of the engine
 */
export async function runOrDrop<Result>(
  scope: CancellationScope,
  { pendingCalls, session }: Pick<CodeRuntime, 'pendingCalls' | 'session'>,
  run: () => Promise<Result>,
): Promise<Result> {
  try {
    return await scope.run(run)
  } catch (thrown) {
    if (isCancellation(thrown)) throw thrown
    pendingCalls.dropCell()
    await session.dropCell()
    throw thrown
  }
}
