/*
 * Workflow `program`: one cell with tools, and no model.
 *
 * Owns: the order of a program's life: read the configuration, run the cell, close the session, return the outcome.
 * Boundary: every outcome of the cell is a result; only the engine can fail the run. `cell/run-cell.ts` runs the cell,
 * as for an agent. The code of a program has the same abilities.
 */

import { defined } from '../common/defined.js'
import type { ProgramInput, ProgramResult } from '../common/run/runs.js'
import { type CellRun, toCellOutcome } from './cell/cell-result.js'
import { ContinueAsNewPolicy, continueAsNew } from './run/continue-as-new.js'
import { recordSummary, recordOutcome } from './run/memo.js'
import { failWorkflowOnError } from './temporal/failures.js'
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
import type { RunCalls } from './calls/run-calls.js'
import { type RunState, runState, startRun } from './start-run.js'

/** The cell waits. Its source is not carried over, because the journal has it. */
export interface ProgramState extends RunState {
  readonly codeRuntime: CodeRuntimeState
  readonly cell: CellState
}

type ProgramArguments = [input: ProgramInput, state?: undefined] | [input: Record<string, never>, state: ProgramState]

export async function program(...[input, state]: ProgramArguments): Promise<ProgramResult> {
  return failWorkflowOnError(async () => {
    if (state) return runProgram(await startRun({ kind: 'program', state }), state)
    const { source, ...options }: ProgramInput = input
    recordSummary(source)
    return runProgram(await startRun({ kind: 'program', options }), source)
  })
}

async function runProgram(calls: RunCalls, from: ProgramState | string): Promise<ProgramResult> {
  const { run, slots, compensations } = calls
  const policy = new ContinueAsNewPolicy(slots, run.config.loweredLimits?.historyEvents)
  const attempt = async (cell: CellState): Promise<void> => {
    if (!(await policy.attempt())) return
    const codeRuntime = await serializeRuntime(runtime)
    await continueAsNew<typeof program>(run, [{}, { ...runState(calls), codeRuntime, cell }])
  }
  const runtime = createCodeRuntime(calls, {
    hasMoreCells: false,
    continuation: { isDue: () => policy.isDue, attempt },
    state: typeof from === 'string' ? undefined : from.codeRuntime,
  })
  registerInspectQuery(runtime)
  const runProgramCell = (): Promise<CellRun> => {
    if (typeof from === 'string') return runCell(runtime, from)
    startPendingCalls(runtime, from.codeRuntime.pendingCalls.notStarted)
    return resumeCell(runtime, from.cell)
  }
  const outcome = await publishEnd(
    run,
    () =>
      compensateUnfinished(
        compensations,
        async () => toCellOutcome(await withRuntime(runtime, runProgramCell), run),
        ({ status }) => status === 'ok',
      ),
    ({ status }) => status,
  )
  recordOutcome(outcome.status)
  const compensation = compensations.report
  return { outcome, ...run.counts, ...defined({ compensation }) }
}
