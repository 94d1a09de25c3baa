import { CancellationScope } from '@temporalio/workflow'
import type { ProgramInput, ProgramResult } from '../common/runs.js'
import { answerInspect } from './answer-inspect.js'
import { neverHang } from './never-hang.js'
import { closeNotebook, openNotebook } from './notebook.js'
import { runCell } from './run-cell.js'
import { startRun } from './run.js'

/** Workflow `program`: one cell with tools and no model. Everything an agent's code can do, it can. */
export async function program(input: ProgramInput): Promise<ProgramResult> {
  return neverHang(async () => {
    const run = await startRun(input)
    const notebook = openNotebook(run)
    answerInspect(run, notebook)
    const calls = new CancellationScope()
    try {
      const outcome = await calls.run(() => runCell(run, notebook, input.source))
      return { outcome, ...run.counts }
    } finally {
      calls.cancel()
      await closeNotebook(notebook)
    }
  })
}
