/*
 * Cells: one program each, executed step by step until it ends.
 *
 * Owns: the loop of a cell (execute a step, start its calls, wait, execute the next step), the pending calls, the
 * limits of a cell, and how it ends. `code-runtime.ts` has what the cells of a run share, `pending-calls.ts` the calls
 * from their start to the delivery of their results, `calls/` one call, `cell-files.ts` the files, `cell-result.ts` how
 * a cell ended.
 * Boundary: it executes steps through `Session` and knows no sandbox, no epoch and no journal. It does not know where
 * the result of a cell goes: to a model, into the result of a program, or to the caller of a named session.
 *
 * Invariants:
 * 1. The cells of a runtime run one after the other.
 * 2. The activity of a call is scheduled at most once: a local call that a worker has made needs none. The position of
 *    the call (turn, cell, index) is its identity.
 * 3. A result is delivered once, unless its cell is dropped: then results of earlier cells' calls are delivered again.
 * 4. Every cell ends with an outcome. Only the cancellation of the run, continue-as-new, and failures of the engine are
 *    thrown.
 * 5. A cell that waits can continue as new. Its whole state is `CellState`, and no call is in progress then.
 * 6. The result of a step is untrusted: a suspension with forged indices, too many calls or nothing to wait for ends
 *    the cell, and its calls do not start.
 */

import { CancellationScope, condition, isCancellation } from '@temporalio/workflow'
import { defined } from '../../common/defined.js'
import type { FoundFile } from '../../common/files/files.js'
import { capturedCharacters } from '../../common/run/limits.js'
import { executeCodeTool } from '../../common/names.js'
import { type CellEnd, type CellOutcome, measuresOf } from '../../common/calls/outcomes.js'
import type { DescribedCall, DescribedStepResult, StepInput } from '../../common/session/steps.js'
import { utf8Length } from '../../common/text/text.js'
import { toolSpan, withSpan } from '../../common/telemetry/tracing.js'
import { type Externalizable, refOf } from '../../common/json/external-value.js'
import { acceptLocalCall } from '../calls/pipeline.js'
import { RunCall } from '../calls/run-call.js'
import {
  cellEndOf,
  type CellRun,
  toCellOutcome,
  interruptedMessage,
  sourceTooLarge,
  totalTimeExceeded,
  tooManyCalls,
  storageExceeded,
  tooManyWakes,
} from './cell-result.js'
import { keepArtifacts, returnsFile, writeFiles, writeReturnedFiles } from './cell-files.js'
import { languageOfStep } from './cell-language.js'
import { type CellState, dropCell, startIdle, type CodeRuntime, waitForResultsOrTimer } from './code-runtime.js'
import type { CellCall } from './pending-calls.js'
import { allowancesOfStep, prepareFollowUp } from './follow-ups.js'
import { OutputBuffer } from './output-buffer.js'
import { metrics } from '../temporal/metrics.js'
import type { PreparedFollowUp } from '../session/follow-up-queue.js'
import { showProgress } from '../run/progress.js'

/** The code of a cell. */
export interface CellCode {
  readonly source: Externalizable<string>
  /** One of the languages of the run. Undefined: the first. */
  readonly language?: string | undefined
  /** Id of the tool use that contains the code. */
  readonly toolUseId?: string
}

/** Runs one cell until it ends. */
export async function runCell(runtime: CodeRuntime, { source, language, toolUseId }: CellCode): Promise<CellRun> {
  const { run, calls, allowedTools } = runtime
  const { sourceBytes, cellTotalSeconds, storedBytes } = run.config.limits
  const bytes = typeof source === 'string' ? utf8Length(source) : (refOf(source)?.bytes ?? 0)
  if (bytes > sourceBytes) return refuseCell(sourceTooLarge(bytes, sourceBytes))
  if (run.isStorageExhausted) return refuseCell(storageExceeded(storedBytes, true))
  runtime.timer.cancel()
  run.count({ cells: 1 })
  const cell: CellState = {
    number: run.counts.cells,
    turn: run.counts.turns,
    ...defined({ toolUseId }),
    deadline: Date.now() + cellTotalSeconds * 1_000,
    wakeAt: null,
    waitsForAll: false,
    calls: 0,
    wakes: 0,
    output: { parts: [], length: 0 },
    waitedBefore: calls.waitedMs,
  }
  runtime.pendingCalls.beginCell()
  // A session without variables gets the files of tools again.
  calls.dataFlow.beginCell(runtime.session.isEmpty && !run.files.hasReturned, runtime.labelsOfAuthor)
  const lost = await writeFiles(runtime)
  // The tools are checked only against the current cell. So the tasks and timers of a cell with fewer tools must end
  // with it.
  const restricted = allowedTools && { restricted: true as const }
  const checked = run.config.checksCode && { checked: true as const }
  const ofStep = { ...languageOfStep(run.config, language), ...restricted, ...checked }
  const ended = await traceCell(runtime, cell, { type: 'cell', cell: cell.number, source, ...ofStep })
  const { files, lost: lostArtifacts } = ended.kept ?? { files: [], lost: [] }
  return lost.length === 0 ? ended : { ...ended, kept: { files, lost: [...lost, ...lostArtifacts] } }
}

/**
 * Runs a cell of a session. The caller gets the outcome with the whole output.
 *
 * @param scope ends the cell when it is cancelled
 * @throws CancelledFailure, and failures of the engine
 */
export function runCellToOutcome(scope: CancellationScope, runtime: CodeRuntime, code: CellCode): Promise<CellOutcome> {
  return runOrDrop(scope, runtime, async () => toCellOutcome(await runCell(runtime, code), runtime.run))
}

/** Runs a cell as {@link runCellToOutcome}. When the engine fails, the next cell starts from the state before it. */
export async function runOrDrop<Result>(
  scope: CancellationScope,
  runtime: CodeRuntime,
  run: () => Promise<Result>,
): Promise<Result> {
  try {
    return await scope.run(run)
  } catch (thrown) {
    if (!isCancellation(thrown)) await dropCell(runtime) // invariant 4
    throw thrown
  }
}

/** Continues a cell that waited in an earlier execution of the continue-as-new chain. */
export function resumeCell(runtime: CodeRuntime, cell: CellState): Promise<CellRun> {
  return traceCell(runtime, cell)
}

/** @param first the first step; undefined for a cell that waits */
function traceCell(runtime: CodeRuntime, cell: CellState, first?: StepInput): Promise<CellRun> {
  const { usage } = runtime
  const span = toolSpan(executeCodeTool, { 'ptc.turn': cell.turn, 'ptc.cell': cell.number })
  return withSpan(span, async (setAttributes) => {
    usage.isBusy = true
    try {
      const ended = await runToCompletion(runtime, cell, first)
      if (wasDropped(ended.end)) runtime.run.files.dropCell()
      setAttributes({ 'ptc.cell.status': ended.end.status })
      return ended
    } finally {
      usage.isBusy = false
      usage.lastUsedAt = Date.now()
    }
  })
}

/** Whether the sandbox is as it was before the cell, or empty. */
function wasDropped(end: CellEnd): boolean {
  return end.status === 'lost' || ('sessionKept' in end && !end.sessionKept)
}

function refuseCell(end: CellEnd): CellRun {
  recordEnd(end, 0)
  return { end, output: '' }
}

function recordEnd({ status, usage }: CellEnd, milliseconds: number): void {
  metrics.add('ptc_cells_total', 1, { status })
  metrics.observe('ptc_cell_latency_milliseconds', milliseconds, {})
  if (usage === undefined) return
  const { runMs, cpuMs, peakMemoryBytes } = usage
  metrics.observe('ptc_cell_run_milliseconds', runMs, {})
  if (cpuMs !== undefined) metrics.observe('ptc_cell_cpu_milliseconds', cpuMs, {})
  if (peakMemoryBytes !== undefined) metrics.observe('ptc_cell_peak_memory_bytes', peakMemoryBytes, {})
}

/** Starts the calls that were pending in the execution before this one. Deferred calls that waited keep waiting. */
export function startPendingCalls(runtime: CodeRuntime, calls: readonly CellCall[]): void {
  for (const call of calls) runtime.pendingCalls.start(call, createCall(runtime, call))
}

function createCall(
  { calls, allowedTools }: CodeRuntime,
  { call, ...where }: CellCall,
  followUp?: PreparedFollowUp,
): RunCall {
  const position = { ...where, index: call.index }
  return new RunCall(calls, { call, caller: 'code_execution', position, allowedTools, followUp })
}

/**
 * Characters of output that every step may return, even when the cell has reached its limit: the last output is the
 * most useful.
 */
const minimumOutputCharacters = 1_000

/** Times that only a timer continues a cell. Each is a durable step, and the length of a history is limited. */
const maxWakes = 1_000

async function runToCompletion(runtime: CodeRuntime, state: CellState, first: StepInput | undefined): Promise<CellRun> {
  const { run, session, pendingCalls, continuation, outputCharacters, outputReader } = runtime
  const { limits } = run.config
  const { wakesPerCell = maxWakes } = run.config.loweredLimits ?? {}
  const output = new OutputBuffer(outputCharacters, outputReader, state.output)
  const outputLimit = () => Math.max(capturedCharacters - output.length, minimumOutputCharacters)
  const finish = async (end: CellEnd, found: readonly FoundFile[] = []): Promise<CellRun> => {
    // The embedded sandbox reports what is in the folder for artifacts also for a run without files.
    const isKeeping = found.length > 0 && run.config.files !== undefined
    const kept = isKeeping ? await keepArtifacts(runtime, found) : undefined
    startIdle(runtime)
    const durationMs = Date.now() - (state.deadline - limits.cellTotalSeconds * 1_000)
    recordEnd(end, durationMs)
    const stderrOf = (shown: number) => output.stderrOf(shown)
    return { end: { ...end, durationMs }, output: output.text, stderrOf, ...defined({ kept }) }
  }
  const stop = async (status: StopStatus, reason: string) => finish(await stopCell(runtime, { status, reason, output }))
  let cell = state
  for (let input = first; ;) {
    // The turn of the first step is paid for.
    if (input && input !== first && run.hasBudget) {
      const spent = await waitForBudgetOfStep(runtime)
      if (spent !== undefined) return stop('limit_exceeded', spent)
    }
    if (input) {
      showProgress(run, { type: 'cell', cell: cell.number })
      const { openingMs } = session
      if (returnsFile(input)) {
        const written = await writeReturnedFiles(runtime, input)
        if (written.type !== 'results') return finish(cellEndOf(written, pendingCalls))
        // The interrupt did not reach the code, which waits.
        if (session.interruption.isRequested) return stop('stopped', interruptedMessage)
        input = written
      }
      const limit = { outputLimit: outputLimit(), ...allowancesOfStep(runtime, cell) }
      const result = await session.executeStep(input, limit)
      // The code must not lose time because no worker had the backend.
      cell = { ...cell, deadline: cell.deadline + session.openingMs - openingMs }
      if ('output' in result) output.add(result)
      if (result.type !== 'suspended')
        return finish(cellEndOf(result, pendingCalls), 'files' in result ? result.files : [])
      const { calls, wakeInMs, waitsForAll = false } = result
      const wakeAt = wakeInMs === null ? null : Date.now() + wakeInMs
      cell = { ...cell, calls: cell.calls + calls.length, wakeAt, waitsForAll }
      const violation = violationOf(runtime, cell, result) // invariant 6
      if (violation) {
        // Apart from exceeded storage, only code that took over the runner causes a violation.
        const isIndexForged = pendingCalls.reuseEarlierIndices(calls)
        if (isIndexForged) pendingCalls.clear()
        else pendingCalls.dropCell()
        await (isIndexForged ? session.dropAll() : session.dropCell())
        return finish(violation)
      }
      const unmade = acceptMadeCalls(runtime, cell, calls)
      if (session.interruption.isRequested) return stop('stopped', interruptedMessage)
      // A follow-up step delivers the result of one call, and no other.
      const followUp = unmade.length === calls.length && prepareFollowUp(runtime, cell, calls, outputLimit())
      startCalls(runtime, cell, unmade, followUp || undefined)
    }
    // An await without need would cost a promise for each call.
    if (continuation?.isDue()) await continuation.attempt({ ...cell, output: output.state }) // invariant 5
    const wait = await waitForResultsOrTimer(runtime, cell)
    input = undefined
    switch (wait.type) {
      case 'continue_as_new_due':
        break
      case 'overdue':
        return stop('timed_out', totalTimeExceeded(limits.cellTotalSeconds))
      case 'interrupted':
        return stop('stopped', interruptedMessage)
      case 'results':
        if (wait.results.length === 0) cell = { ...cell, wakes: cell.wakes + 1 }
        if (cell.wakes > wakesPerCell) return stop('limit_exceeded', tooManyWakes(wakesPerCell))
        input = wait
    }
  }
}

/**
 * Waits while the budget is spent, or until the code is interrupted, before a step that continues the code. A budget of
 * calls does not bound a step: the code may use the results of the last call.
 *
 * @returns the reason when a spent budget ends the run
 */
async function waitForBudgetOfStep({ run, calls, session }: CodeRuntime): Promise<string | undefined> {
  const item = run.budget.spentWithoutLeases
  if (item === undefined || item === 'toolCalls') return undefined
  const scope = new CancellationScope()
  const waiting = scope.run(() => calls.budget.waitForRest())
  const interrupted = condition(() => session.interruption.isRequested).then(() => scope.cancel())
  try {
    return await Promise.race([waiting, interrupted.then(() => undefined)])
  } finally {
    waiting.catch(() => undefined)
  }
}

/** Starts the calls of a step, except those that a worker has made already. */
function startCalls(
  runtime: CodeRuntime,
  cell: CellState,
  calls: readonly DescribedCall[],
  followUp: PreparedFollowUp | undefined,
): void {
  for (const call of calls) {
    const made = callOfCell(cell, call)
    runtime.pendingCalls.start(made, createCall(runtime, made, followUp))
  }
}

/** Takes the outcomes of the local calls that a worker has made: invariant 2. Returns the other calls. */
function acceptMadeCalls(
  runtime: CodeRuntime,
  cell: CellState,
  calls: readonly DescribedCall[],
): readonly DescribedCall[] {
  const { session, pendingCalls } = runtime
  return calls.filter((call) => {
    const outcome = session.outcomeOf(call.index)
    if (outcome === undefined) return true
    pendingCalls.addResult(call.index, acceptLocalCall(createCall(runtime, callOfCell(cell, call)), outcome))
    return false
  })
}

function callOfCell({ turn, number, toolUseId }: CellState, call: DescribedCall): CellCall {
  return { call, turn, cell: number, ...defined({ toolUseId }) }
}

type StopStatus = 'timed_out' | 'limit_exceeded' | 'stopped'

/** Stops a cell that waits. The variables stay if the code ends when it is cancelled. */
async function stopCell(
  runtime: CodeRuntime,
  { status, reason, output }: { readonly status: StopStatus; readonly reason: string; readonly output: OutputBuffer },
): Promise<CellEnd> {
  const limit = { outputLimit: minimumOutputCharacters }
  const result = await runtime.session.executeStep({ type: 'stop', reason }, limit)
  if ('output' in result) output.add(result)
  switch (result.type) {
    case 'completed':
    case 'failed':
      runtime.pendingCalls.cancelAll()
      return { status, error: reason, sessionKept: true, ...measuresOf(result) }
    case 'suspended':
      runtime.pendingCalls.cancelCell()
      await runtime.session.dropCell()
      return { status, error: reason, sessionKept: false }
    case 'lost':
      runtime.pendingCalls.cancelCell()
      return { status, error: reason, sessionKept: false }
    case 'diverged':
      return cellEndOf(result, runtime.pendingCalls)
  }
}

/** Returns how an invalid suspension ends the cell; undefined for a valid one. */
function violationOf(
  { run, pendingCalls }: CodeRuntime,
  cell: CellState,
  { calls, wakeInMs }: Extract<DescribedStepResult, { type: 'suspended' }>,
): CellEnd | undefined {
  const { callsPerCell, storedBytes } = run.config.limits
  if (calls.length > 0 && run.isStorageExhausted) return storageExceeded(storedBytes, false)
  if (cell.calls > callsPerCell) return tooManyCalls(callsPerCell)
  if (!pendingCalls.haveNewIndices(calls))
    return { status: 'lost', error: 'the sandbox reported a call with an invalid index' }
  if (calls.length === 0 && pendingCalls.size === 0 && wakeInMs === null) {
    return { status: 'lost', error: 'the sandbox waits without a pending call or a timer' }
  }
  return undefined
}
