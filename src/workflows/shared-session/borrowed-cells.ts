/*
 * The cells of sub-agents that use the session of this run.
 *
 * Owns: a cell of a sub-agent from its arrival to its end.
 * Boundary: `served-cells.ts` has the messages. `calls/subagent` says which sub-agents use the session.
 *
 * Invariants:
 * 1. One cell at a time runs in the session: of the run, or of a sub-agent.
 * 2. A sub-agent is known by the idempotency key of its call, and so are its own sub-agents that use the session. Cells
 *    of others are refused: after a reset, Temporal sends the messages of the execution before again.
 */

import { CancellationScope } from '@temporalio/workflow'
import type { CellResult, ExecuteCell } from '../../common/session/shared-cells.js'
import { interruptedBeforeStart } from '../cell/cell-result.js'
import type { CodeRuntime } from '../cell/code-runtime.js'
import { rejection } from '../temporal/failures.js'
import { runServedCell, serveCells } from './served-cells.js'

/** Executes the cells of the sub-agents that use the session of this run, until the session ends. */
export function serveBorrowedCells(runtime: CodeRuntime): void {
  const { queue, calls, session } = runtime
  /** The key of each cell that has arrived and not ended, by the id of the cell. */
  const keys = new Map<string, string>()
  /** Ids of cells that were interrupted before their start, perhaps before they arrived. */
  const interrupted = new Set<string>()
  const scope = new CancellationScope()
  let running: string | undefined
  let isClosed = false

  const interrupt = (id: string): void => {
    if (id === running) session.interruption.request()
    else interrupted.add(id)
  }
  const execute = async (cell: ExecuteCell): Promise<CellResult> => {
    const { id, key } = cell
    if (key === undefined || !calls.borrowers.has(key) || isClosed) throw sessionClosed() // invariant 2
    keys.set(id, key)
    try {
      // Invariant 1.
      return await queue.run(async () => {
        if (isClosed) throw sessionClosed()
        if (interrupted.has(id)) return notStarted
        running = id
        return { type: 'ended', ...(await runServedCell(scope, runtime, cell)), isNew: false }
      })
    } catch (thrown) {
      throw isClosed ? sessionClosed() : thrown
    } finally {
      keys.delete(id)
      if (running === id) running = undefined
    }
  }
  calls.onReturn = (key) => {
    for (const [id, keyOfCell] of keys) if (keyOfCell === key) interrupt(id)
  }
  runtime.beforeClose.push(async () => {
    isClosed = true
    scope.cancel()
  })
  serveCells({ execute, interrupt })
}

function sessionClosed(): Error {
  return rejection('SESSION_CLOSED', 'the sandbox of the parent is no longer there')
}

/** The result of a cell that was interrupted before its start. */
export const notStarted: CellResult = {
  type: 'ended',
  end: interruptedBeforeStart,
  output: '',
  toolCalls: 0,
  isNew: false,
}
