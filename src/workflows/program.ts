/*
 * Workflow `program`: one cell with tools, and no model.
 *
 * Owns: the order of a program's life: read the configuration, run the cell, close the session, return the outcome.
 * Boundary: `cell/run-cell.ts` runs the cell, as for an agent. The code of a program has the same abilities.
 *
 * Invariants:
 * 1. The run succeeds with every outcome of the cell, also with an error of the code. Only the engine
 *    can fail it.
 * 2. The session is closed in every case but continue-as-new, which hands it to the next execution.
 * 3. A program continues as new only while its cell waits. The next execution resumes that cell; its source is not
 *    carried over, because the journal has it.
 */

import type { ProgramInput, ProgramResult } from '../common/runs/runs.js'
import { type CellRun, toCellOutcome } from './cell/cell-result.js'
import { ContinueAsNewPolicy, continueAsNew } from './run/continue-as-new.js'
import { recordSummary, recordOutcome } from './run/memo.js'
import { failWorkflowOnError } from './temporal/fail-workflow.js'
import { publishEnd } from './run/search-attributes.js'
import {
  type CellState,
  type CodeRuntimeState,
  createCodeRuntime,
  registerInspectQuery,
  serializeRuntime,
  withRuntime,
} from './cell/code-runtime.js'
import { startPendingCalls, resumeCell, runCell } from './cell/run-cell.js'
import { compensateUnfinished } from './calls/compensation/compensate-unfinished.js'
import { type RunState, runState, startRun } from './run/run.js'

/** The state for the next execution of the continue-as-new chain. The cell waits. */
export interface ProgramState extends RunState {
  readonly codeRuntime: CodeRuntimeState
  readonly cell: CellState
}

export async function program(input: ProgramInput, state?: ProgramState): Promise<ProgramResult> {
  return failWorkflowOnError(async () => {
    recordSummary(input.source)
    const { source, ...options } = input
    const run = await startRun({ kind: 'program', options, state })
    const { config, counts } = run
    const policy = new ContinueAsNewPolicy(run.callSlots, config.limits.historyEvents)
    const tryContinueAsNew = async (cell: CellState): Promise<void> => {
      if (!(await policy.attempt())) return
      const codeRuntime = await serializeRuntime(run, runtime)
      // The state contains the recorded configuration, which includes all options.
      const next: ProgramState = { ...runState(run), codeRuntime, cell }
      await continueAsNew<typeof program>(run, { source: '' }, next)
    }
    const continueAsNewIfDue = (cell: CellState) => (policy.isDue ? tryContinueAsNew(cell) : undefined)
    const isContinueAsNewDue = () => policy.isDue
    const continuation = { isContinueAsNewDue, continueAsNewIfDue }
    const runtime = createCodeRuntime(run, { hasMoreCells: false, ...continuation, state: state?.codeRuntime })
    registerInspectQuery(run, runtime)
    const runProgramCell = (): Promise<CellRun> => {
      if (!state) return runCell(run, runtime, source)
      startPendingCalls(run, runtime, state.codeRuntime.pendingCalls.notStarted)
      return resumeCell(run, runtime, state.cell)
    }
    const outcome = await publishEnd(
      run,
      () =>
        compensateUnfinished(
          run,
          async () => toCellOutcome(await withRuntime(runtime, runProgramCell), run),
          ({ status }) => status === 'ok',
        ),
      ({ status }) => status,
    )
    recordOutcome(outcome.status)
    const compensation = run.compensations.report
    return { outcome, ...counts, ...(compensation && { compensation }) }
  })
}
