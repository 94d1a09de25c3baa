import type { ProgramInput, ProgramResult } from '../common/runs.js'
import { registerInspectQuery } from './session/inspect-query.js'
import type { CellState } from './cell/cell-state.js'
import { continueAsNew } from './temporal/continue-as-new.js'
import { toCellOutcome } from './cell/cell-result.js'
import { ContinueAsNewPolicy } from './temporal/continue-as-new-policy.js'
import { recordSummary, recordOutcome } from './temporal/memo.js'
import { failWorkflowOnError } from './temporal/fail-workflow.js'
import { serializeRuntime, withRuntime, type CodeRuntimeState, createCodeRuntime } from './cell/code-runtime.js'
import { startPendingCalls, resumeCell, runCell } from './cell/run-cell.js'
import { type RunState, startRun } from './run.js'

/** What the next run of the chain must know: the cell waits. */
export interface ProgramState extends RunState {
  readonly codeRuntime: CodeRuntimeState
  readonly cell: CellState
}

/** Workflow `program`: one cell with tools and no model. Everything an agent's code can do, it can. */
export async function program(input: ProgramInput, state?: ProgramState): Promise<ProgramResult> {
  return failWorkflowOnError(async () => {
    recordSummary(input.source)
    const run = await startRun(input, state)
    const { config, counts, stored } = run
    const history = new ContinueAsNewPolicy(run)
    const continueAsNewIfDue = async (cell: CellState): Promise<void> => {
      if (!(await history.shouldContinue())) return
      const { source: _, ...rest } = input
      const next: ProgramState = { config, counts, stored, codeRuntime: await serializeRuntime(runtime), cell }
      await continueAsNew<typeof program>({ ...rest, source: '' }, next)
    }
    const runtime = createCodeRuntime(run, { hasMoreCells: false, continueAsNewIfDue, state: state?.codeRuntime })
    registerInspectQuery(run, runtime)
    const cellRun = await withRuntime(runtime, () => {
      if (!state) return runCell(run, runtime, input.source)
      startPendingCalls(run, runtime, state.codeRuntime.pendingCalls.notStarted)
      return resumeCell(run, runtime, state.cell)
    })
    const outcome = await toCellOutcome(cellRun, run)
    recordOutcome(outcome.status)
    return { outcome, ...counts }
  })
}
