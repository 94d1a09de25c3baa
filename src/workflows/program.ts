import { CancellationScope, ContinueAsNew } from '@temporalio/workflow'
import type { CellOutcome } from '../common/outcomes.js'
import type { ProgramInput, ProgramResult } from '../common/runs.js'
import { answerInspect } from './answer-inspect.js'
import type { CellState } from './cell-state.js'
import { continueRun } from './continue-run.js'
import { joinText } from './engine.js'
import { FreshHistory } from './fresh-history.js'
import { neverHang } from './never-hang.js'
import { closeNotebook, handOver, type NotebookState, openNotebook } from './notebook.js'
import { type CellRun, resumeCalls, resumeCell, runCell } from './run-cell.js'
import { type RunState, startRun } from './run.js'

/** What the next run of the chain must know: the cell waits. */
export interface ProgramState extends RunState {
  readonly notebook: NotebookState
  readonly cell: CellState
}

/** Workflow `program`: one cell with tools and no model. Everything an agent's code can do, it can. */
export async function program(input: ProgramInput, state?: ProgramState): Promise<ProgramResult> {
  return neverHang(async () => {
    const run = await startRun(input, state)
    const { plan, counts } = run
    const history = new FreshHistory(run)
    const mayContinue = async (cell: CellState): Promise<void> => {
      if (!(await history.isDue())) return
      const { source: _, ...rest } = input
      const next: ProgramState = { plan, counts, notebook: await handOver(notebook), cell }
      await continueRun<typeof program>({ ...rest, source: '' }, next)
    }
    const notebook = openNotebook(run, { mayContinue, state: state?.notebook })
    answerInspect(run, notebook)
    const calls = new CancellationScope()
    try {
      const ended = await calls.run(() => {
        if (!state) return runCell(run, notebook, input.source)
        resumeCalls(run, notebook, state.notebook.openCalls.waiting)
        return resumeCell(run, notebook, state.cell)
      })
      calls.cancel()
      await closeNotebook(notebook)
      return { outcome: await outcomeOf(ended), ...counts }
    } catch (thrown) {
      calls.cancel()
      // The next run of the chain goes on with the sandbox.
      if (!(thrown instanceof ContinueAsNew)) await closeNotebook(notebook)
      throw thrown
    }
  })
}

/** An outcome whose output is in place, for whoever reads the result. */
export async function outcomeOf({ end, output }: CellRun): Promise<CellOutcome> {
  return { ...end, output: typeof output === 'string' ? output : await joinText(output) }
}
