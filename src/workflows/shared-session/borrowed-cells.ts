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
import { type CellOwner, runServedCell } from './served-cells.js'

interface BorrowedCell {
  readonly key: string
  state: 'queued' | 'running' | 'interrupted'
}

export class BorrowedCells implements CellOwner {
  readonly #runtime: CodeRuntime
  readonly #cells = new Map<string, BorrowedCell>()
  /** Ids of cells that were interrupted before they arrived. */
  readonly #interrupted = new Set<string>()
  readonly #scope = new CancellationScope()
  #isClosed = false

  constructor(runtime: CodeRuntime) {
    this.#runtime = runtime
    runtime.beforeClose.push(async () => this.#close())
    runtime.calls.onReturn = (key) => {
      for (const [id, cell] of this.#cells) if (cell.key === key) this.interrupt(id)
    }
  }

  /**
   * Executes a cell of a sub-agent after all earlier cells.
   *
   * @throws ApplicationFailure SESSION_CLOSED, failures of the engine, and CancelledFailure
   */
  async execute(request: ExecuteCell): Promise<CellResult> {
    const { id, key } = request
    const { queue, calls } = this.#runtime
    if (key === undefined || !calls.borrowers.has(key) || this.#isClosed) throw sessionClosed() // invariant 2
    const cell: BorrowedCell = { key, state: this.#interrupted.has(id) ? 'interrupted' : 'queued' }
    this.#cells.set(id, cell)
    try {
      return await queue.run(async () => {
        // invariant 1
        if (this.#isClosed) throw sessionClosed()
        if (cell.state === 'interrupted') return notStarted
        cell.state = 'running'
        return { type: 'ended', ...(await runServedCell(this.#scope, this.#runtime, request)), isNew: false }
      })
    } catch (thrown) {
      throw this.#isClosed ? sessionClosed() : thrown
    } finally {
      this.#cells.delete(id)
    }
  }

  /** Interrupts a cell that runs, is queued, or arrives later. */
  interrupt(id: string): void {
    const cell = this.#cells.get(id)
    if (!cell) this.#interrupted.add(id)
    else if (cell.state === 'running') this.#runtime.session.interruption.request()
    else cell.state = 'interrupted'
  }

  #close(): void {
    this.#isClosed = true
    this.#scope.cancel()
  }
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
