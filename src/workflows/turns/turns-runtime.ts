import { type CellState, type CodeRuntime, createCodeRuntime } from '../cell/code-runtime.js'
import type { Run } from '../run/run.js'
import { serveGuests } from '../shared-session/served-cells.js'
import { sharedSessionOf } from '../shared-session/shared-session.js'
import type { ContinueAsNewPolicy } from '../run/continue-as-new.js'
import type { AgentTurnsState } from './agent-turns-state.js'

/** Functions by which turns continue as new in the middle of code. */
interface Continuation {
  /** Called while a cell waits. Returns undefined when continue-as-new is not due. */
  readonly inCell: (cell: CellState) => Promise<void> | undefined
  /** Called while the owner of a shared session has the cell. */
  readonly inSharedCell: () => Promise<void>
}

/** Creates the runtime for the code of the turns: in a session of the run, or in the session of another workflow. */
export function createTurnsRuntime(
  run: Run,
  state: AgentTurnsState | undefined,
  policy: ContinueAsNewPolicy,
  { inCell, inSharedCell }: Continuation,
): CodeRuntime {
  const isContinueAsNewDue = () => policy.isDue
  const runtime = createCodeRuntime(run, {
    idleMs: run.config.timeouts.idleMs,
    outputReader: 'model',
    isContinueAsNewDue,
    continueAsNewIfDue: inCell,
    shared: sharedSessionOf(run, isContinueAsNewDue, inSharedCell, state?.sharedSession),
    state: state?.codeRuntime,
  })
  if (run.guests) serveGuests(run, runtime, run.guests)
  return runtime
}
