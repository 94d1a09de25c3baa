/*
 * The sub-agents that use the session of this run.
 *
 * Owns: which sub-agents may use it, and the order of their cells and the cells of the run.
 * Boundary: `served-cells.ts` has the messages. `subagents/call-subagent.ts` adds and removes sub-agents.
 *
 * Invariants:
 * 1. One cell at a time runs in the session: of the run, or of a sub-agent.
 * 2. A sub-agent is known by the idempotency key of its call, and so are its own sub-agents that use the session. Cells
 *    of others are refused: after a reset, Temporal sends the messages of the execution before again.
 * 3. The run does not continue as new while a sub-agent uses its session. The call of such a sub-agent holds no slot of
 *    `callSlots`: the calls of its code need some.
 */

import { CancellationScope } from '@temporalio/workflow'
import type { CellResult, ExecuteCell } from '../../common/session/shared-cells.js'
import { interruptedBeforeStart } from '../cell/cell-result.js'
import { rejection } from '../temporal/rejection.js'

/** A cell of a sub-agent from its arrival to its end. */
interface GuestCell {
  readonly key: string
  state: 'queued' | 'running' | 'interrupted'
}

/** The sub-agents of a run that use its session; see the header. */
export class SandboxGuests {
  readonly #keys = new Set<string>()
  readonly #cells = new Map<string, GuestCell>()
  /** Ids of cells that were interrupted before they arrived. */
  readonly #interrupted = new Set<string>()
  readonly #scope = new CancellationScope()
  #tail: Promise<unknown> = Promise.resolve()
  #interruptRunning: () => void = () => undefined
  #isClosed = false

  /** True while a sub-agent uses the session. */
  get arePresent(): boolean {
    return this.#keys.size > 0
  }

  /** @param interruptRunning interrupts the cell in progress */
  serve(interruptRunning: () => void): void {
    this.#interruptRunning = interruptRunning
  }

  /** Called before a sub-agent starts. */
  enter(key: string): void {
    this.#keys.add(key)
  }

  /** Called when a sub-agent has ended, or when its call was cancelled. */
  leave(key: string): void {
    this.#keys.delete(key)
    for (const [id, cell] of this.#cells) if (cell.key === key) this.interrupt(id)
  }

  /** Runs a cell of the run, or of a sub-agent, after all earlier cells. */
  inOrder<Result>(runCell: () => Promise<Result>): Promise<Result> {
    const result = this.#tail.then(runCell)
    this.#tail = result.catch(() => undefined)
    return result
  }

  /** Ends the cells of sub-agents, because the session ends. */
  close(): void {
    this.#isClosed = true
    this.#scope.cancel()
  }

  /**
   * Executes a cell of a sub-agent after all earlier cells.
   *
   * @param runCell runs the cell until the scope is cancelled
   * @throws ApplicationFailure SESSION_CLOSED, and what `runCell` throws
   */
  async execute(
    { id, key }: ExecuteCell,
    runCell: (scope: CancellationScope) => Promise<CellResult>,
  ): Promise<CellResult> {
    if (key === undefined || !this.#keys.has(key) || this.#isClosed) throw sessionClosed()
    const cell: GuestCell = { key, state: this.#interrupted.has(id) ? 'interrupted' : 'queued' }
    this.#cells.set(id, cell)
    try {
      return await this.inOrder(async () => {
        if (this.#isClosed) throw sessionClosed()
        if (cell.state === 'interrupted') return notStarted
        cell.state = 'running'
        return runCell(this.#scope)
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
    else if (cell.state === 'running') this.#interruptRunning()
    else cell.state = 'interrupted'
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
