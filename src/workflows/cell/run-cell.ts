import type { TextParts } from '../../common/messages.js'
import type { DescribedStepResult, StepOutcome } from '../../common/steps.js'
import { pluralize, utf8Length } from '../../common/text.js'
import { type Externalizable, refOf } from '../../common/external-value.js'
import { callTool } from './call-tool.js'
import {
  type CellEnd,
  cellEndOf,
  interruptedMessage,
  sourceTooLarge,
  totalTimeExceeded,
  tooManyCalls,
  storageExceeded,
  tooManyWakes,
} from './cell-end.js'
import type { CellState } from './cell-state.js'
import { startIdle, type CodeRuntime, waitForResultsOrTimer } from './code-runtime.js'
import type { CellCall, PendingCalls, RecordOutcome } from './pending-calls.js'
import { OutputBuffer } from './output-buffer.js'
import { type Run, showProgress, isStorageExhausted } from '../run.js'

/** How a cell ended, and what it printed. */
export interface CellRun {
  readonly end: CellEnd
  readonly output: string | TextParts
}

/** Runs one cell to its end: advance, serve the calls, advance with what has arrived. */
export async function runCell(run: Run, runtime: CodeRuntime, source: Externalizable<string>): Promise<CellRun> {
  const { sourceBytes, cellTotalSeconds, storedBytes } = run.config.limits
  const bytes = typeof source === 'string' ? utf8Length(source) : (refOf(source)?.bytes ?? 0)
  if (bytes > sourceBytes) return { end: sourceTooLarge(bytes, sourceBytes), output: '' }
  if (isStorageExhausted(run)) return { end: storageExceeded(storedBytes, true), output: '' }
  runtime.timer.cancel()
  run.counts.cells += 1
  const cell: CellState = {
    number: run.counts.cells,
    turn: run.counts.turns,
    deadline: Date.now() + cellTotalSeconds * 1_000,
    wakeAt: null,
    calls: 0,
    wakes: 0,
    output: { parts: [], length: 0 },
  }
  runtime.pendingCalls.beginCell()
  return markBusy(runtime, () =>
    runToCompletion(run, runtime, cell, (room) => {
      showProgress(run, `running cell ${cell.number}`)
      return runtime.session.executeStep({ type: 'cell', cell: cell.number, source }, room)
    }),
  )
}

/** Goes on with a cell that an earlier run of the chain began. */
export function resumeCell(run: Run, runtime: CodeRuntime, cell: CellState): Promise<CellRun> {
  return markBusy(runtime, () => runToCompletion(run, runtime, cell, undefined))
}

async function markBusy<Result>({ usage }: CodeRuntime, work: () => Promise<Result>): Promise<Result> {
  usage.isBusy = true
  try {
    return await work()
  } finally {
    usage.isBusy = false
    usage.lastUsedAt = Date.now()
  }
}

/** Begins the calls that were made in an earlier run of the chain and have not begun. */
export function startPendingCalls(run: Run, { pendingCalls }: CodeRuntime, waiting: readonly CellCall[]): void {
  for (const call of waiting) pendingCalls.start(call, callExecutor(run))
}

function callExecutor(run: Run) {
  return ({ call, turn, cell }: CellCall, record: RecordOutcome): Promise<void> =>
    run.callSlots.run(async () =>
      record(await callTool(run, call, 'code_execution', { turn, cell, index: call.index })),
    )
}

/** Characters of output that every step may carry, whatever the cell has printed before: its end says the most. */
const minimumOutputCharacters = 1_000

async function runToCompletion(
  run: Run,
  runtime: CodeRuntime,
  state: CellState,
  begin: ((room: number) => Promise<StepOutcome>) | undefined,
): Promise<CellRun> {
  const { limits } = run.config
  const { session, pendingCalls, continueAsNewIfDue, outputCharacters } = runtime
  const printed = new OutputBuffer(outputCharacters, state.output)
  const room = () => Math.max(limits.capturedCharacters - printed.length, minimumOutputCharacters)
  const finish = (end: CellEnd): CellRun => {
    startIdle(runtime)
    return { end, output: printed.text }
  }
  let cell = state
  let result = await begin?.(room())
  for (;;) {
    if (result) {
      if ('output' in result) printed.add(result.output)
      if (result.type !== 'suspended') return finish(cellEndOf(result, pendingCalls))
      const { calls, wakeInMs } = result
      const wakeAt = wakeInMs === null ? null : Date.now() + wakeInMs
      cell = { ...cell, calls: cell.calls + calls.length, wakeAt }
      const violation =
        calls.length > 0 && isStorageExhausted(run)
          ? storageExceeded(limits.storedBytes, false)
          : invalidSuspension(result, pendingCalls, cell.calls > limits.callsPerCell ? limits.callsPerCell : null)
      if (violation) {
        // But for what is stored, the runner lets none of this happen; only code that got hold of it does.
        const isIndexForged = pendingCalls.reuseEarlierIndices(result.calls)
        if (isIndexForged) pendingCalls.clear()
        else pendingCalls.dropCell()
        await (isIndexForged ? session.dropAll() : session.dropCell())
        return finish(violation)
      }
      if (session.interruption.isRequested)
        return finish(await stopCell(runtime, 'stopped', interruptedMessage, printed))
      for (const call of calls) pendingCalls.start({ call, turn: cell.turn, cell: cell.number }, callExecutor(run))
    }
    showProgress(run, `cell ${cell.number} waits for ${pluralize(pendingCalls.size, 'tool call')}`)
    await continueAsNewIfDue({ ...cell, output: { parts: printed.parts, length: printed.length } })
    const wait = await waitForResultsOrTimer(run, runtime, cell)
    if (wait.type === 'overdue') {
      return finish(await stopCell(runtime, 'timed_out', totalTimeExceeded(limits.cellTotalSeconds), printed))
    }
    if (wait.type === 'interrupted') return finish(await stopCell(runtime, 'stopped', interruptedMessage, printed))
    if (wait.results.length === 0) cell = { ...cell, wakes: cell.wakes + 1 }
    if (cell.wakes > limits.wakesPerCell) {
      return finish(await stopCell(runtime, 'limit_exceeded', tooManyWakes(limits.wakesPerCell), printed))
    }
    showProgress(run, `running cell ${cell.number}`)
    result = await session.executeStep(wait, room())
  }
}

/** Ends a cell that waits. Its variables are kept if its code lets itself be stopped. */
async function stopCell(
  runtime: CodeRuntime,
  status: 'timed_out' | 'limit_exceeded' | 'stopped',
  reason: string,
  printed: OutputBuffer,
): Promise<CellEnd> {
  const result = await runtime.session.executeStep({ type: 'stop', reason }, minimumOutputCharacters)
  if ('output' in result) printed.add(result.output)
  switch (result.type) {
    case 'completed':
    case 'failed':
      runtime.pendingCalls.cancelAll()
      return { status, error: reason, sessionKept: true }
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

/** Why a suspension can't be served; undefined when it can. */
function invalidSuspension(
  { calls, wakeInMs }: Extract<DescribedStepResult, { type: 'suspended' }>,
  pendingCalls: PendingCalls,
  callLimit: number | null,
): CellEnd | undefined {
  if (callLimit !== null) return tooManyCalls(callLimit)
  if (!pendingCalls.haveNewIndices(calls))
    return { status: 'lost', error: 'the sandbox gave a call a number that can not be its own' }
  if (calls.length === 0 && pendingCalls.size === 0 && wakeInMs === null) {
    return { status: 'lost', error: 'the sandbox waits for nothing' }
  }
  return undefined
}
