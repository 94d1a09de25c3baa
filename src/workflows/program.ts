/*
 * Runs without a model: workflow `program`, one cell with tools, and workflow `call`, one call of a tool without code.
 *
 * Owns: the order of the life of such a run: read the configuration, run the cell or make the call, close the session,
 * return the outcome.
 * Boundary: every outcome of the cell or the call is a result; only the engine can fail the run. `cell/run-cell.ts` runs
 * the cell, as for an agent. The code of a program has the same abilities. A call is a direct call.
 */

import { defined } from '../common/defined.js'
import { callDigest } from '../common/calls/call-identity.js'
import type { CallInput, CallResult, ProgramInput, ProgramResult } from '../common/run/runs.js'
import { jsonToText, toTemporalSummary } from '../common/text/text.js'
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
import { executeCall } from './calls/pipeline.js'
import { RunCall } from './calls/run-call.js'
import type { RunCalls } from './calls/run-calls.js'
import { holdAnswer, holdOutcome } from './calls/data-flow/hold-answer.js'
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
    if (typeof from === 'string') return runCell(runtime, { source: from })
    startPendingCalls(runtime, from.codeRuntime.pendingCalls.notStarted)
    return resumeCell(runtime, from.cell)
  }
  const outcome = await publishEnd(
    run,
    () =>
      compensateUnfinished(
        compensations,
        async () => {
          const ended = await withRuntime(runtime, async () => {
            const cell = await runProgramCell()
            // A person decides while the run is open.
            return run.config.dataFlow ? holdOutcome(calls, await toCellOutcome(cell, run)) : cell
          })
          return 'end' in ended ? toCellOutcome(ended, run) : ended
        },
        ({ status }) => status === 'ok',
      ),
    ({ status }) => status,
  )
  recordOutcome(outcome.status)
  const compensation = compensations.report
  return { outcome, ...run.counts, ...defined({ compensation }) }
}

/** The call has the place of the first direct call of a program. */
const position = { turn: 0, cell: 0, index: 1 } as const

export async function call({ tool, arguments: args, context }: CallInput): Promise<CallResult> {
  return failWorkflowOnError(async () => {
    const options = { tools: [tool], ...(context && { context }) }
    const calls = await startRun({ kind: 'call', options })
    const { run } = calls
    const requested = {
      tool,
      arguments: args,
      index: position.index,
      digest: callDigest(tool, args),
      summary: run.config.isRedacted ? tool : toTemporalSummary(`${tool} ${jsonToText(args)}`),
      refused: null,
    }
    const outcome = await publishEnd(
      run,
      async () => {
        const outcome = await executeCall(new RunCall(calls, { call: requested, caller: 'direct', position }))
        const reason = await holdAnswer(
          calls,
          jsonToText(outcome.status === 'ok' ? outcome.value : outcome.message),
          calls.dataFlow.ofModel,
        )
        return reason === undefined ? outcome : ({ status: 'denied', message: reason } as const)
      },
      ({ status }) => status,
    )
    recordOutcome(outcome.status)
    return { outcome }
  })
}
