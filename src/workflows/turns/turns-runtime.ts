import { sharesSandbox } from '../../common/calls/tool-config.js'
import type { RunCalls } from '../calls/run-calls.js'
import { type CellState, type CodeRuntime, createCodeRuntime } from '../cell/code-runtime.js'
import type { ContinueAsNewPolicy } from '../run/continue-as-new.js'
import { BorrowedCells } from '../shared-session/borrowed-cells.js'
import { serveCells } from '../shared-session/served-cells.js'
import { type SharedSession, sharedSessionOf } from '../shared-session/shared-session.js'
import type { AgentTurnsState } from './agent-turns-state.js'

/** Functions by which turns continue as new in the middle of code. */
interface Continuation {
  /** Called while a cell waits. Returns undefined when continue-as-new is not due. */
  readonly inCell: (cell: CellState) => Promise<void> | undefined
  /** Called while the owner of a shared session has the cell. */
  readonly inSharedCell: () => Promise<void>
}

/**
 * Creates the runtime for the code of the turns, and the session of another workflow that executes the code instead, if
 * there is one.
 */
export function createTurnsRuntime(
  calls: RunCalls,
  state: AgentTurnsState | undefined,
  policy: ContinueAsNewPolicy,
  { inCell, inSharedCell }: Continuation,
): { readonly runtime: CodeRuntime; readonly shared: SharedSession | undefined } {
  const { config } = calls.run
  const isContinueAsNewDue = () => policy.isDue
  const runtime = createCodeRuntime(calls, {
    idleMs: config.timeouts.idleMs,
    outputReader: 'model',
    isContinueAsNewDue,
    continueAsNewIfDue: inCell,
    state: state?.codeRuntime,
  })
  const shared = sharedSessionOf(calls.run, isContinueAsNewDue, inSharedCell, state?.sharedSession)
  if (shared) runtime.beforeClose.push(() => shared.abandon())
  else if (config.tools.some(sharesSandbox)) serveCells(new BorrowedCells(runtime))
  return { runtime, shared }
}
