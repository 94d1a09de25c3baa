import type { ProgramInput, ProgramResult } from '../common/runs.js'
import { answerInspect } from './answer-inspect.js'
import type { CellState } from './cell-state.js'
import { continueRun } from './continue-run.js'
import { outcomeOf } from './cell-outcome.js'
import { FreshHistory } from './fresh-history.js'
import { describeInMemo, recordOutcome } from './memo.js'
import { neverHang } from './never-hang.js'
import { handOver, inNotebook, type NotebookState, openNotebook } from './notebook.js'
import { resumeCalls, resumeCell, runCell } from './run-cell.js'
import { type RunState, startRun } from './run.js'

/** What the next run of the chain must know: the cell waits. */
export interface ProgramState extends RunState {
  readonly notebook: NotebookState
  readonly cell: CellState
}

/** Workflow `program`: one cell with tools and no model. Everything an agent's code can do, it can. */
export async function program(input: ProgramInput, state?: ProgramState): Promise<ProgramResult> {
  return neverHang(async () => {
    describeInMemo(input.source)
    const run = await startRun(input, state)
    const { plan, counts, stored } = run
    const history = new FreshHistory(run)
    const mayContinue = async (cell: CellState): Promise<void> => {
      if (!(await history.isDue())) return
      const { source: _, ...rest } = input
      const next: ProgramState = { plan, counts, stored, notebook: await handOver(notebook), cell }
      await continueRun<typeof program>({ ...rest, source: '' }, next)
    }
    const notebook = openNotebook(run, { hasMoreCells: false, mayContinue, state: state?.notebook })
    answerInspect(run, notebook)
    const ended = await inNotebook(notebook, () => {
      if (!state) return runCell(run, notebook, input.source)
      resumeCalls(run, notebook, state.notebook.openCalls.waiting)
      return resumeCell(run, notebook, state.cell)
    })
    const outcome = await outcomeOf(ended, run)
    recordOutcome(outcome.status)
    return { outcome, ...counts }
  })
}
