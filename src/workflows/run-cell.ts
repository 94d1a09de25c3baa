import type { HeldText } from '../common/messages.js'
import type { DescribedAnswer, TakenAnswer } from '../common/steps.js'
import { plural, utf8Length } from '../common/text.js'
import { type Held, refOf } from '../common/values.js'
import { callTool } from './call-tool.js'
import {
  type CellEnd,
  endOf,
  interruptedText,
  tooLarge,
  tooLong,
  tooManyCalls,
  tooMuchStored,
  tooRestless,
} from './cell-end.js'
import type { CellState } from './cell-state.js'
import { beginIdle, type Notebook, untilWoken } from './notebook.js'
import type { CallOfCell, OpenCalls, Record } from './open-calls.js'
import { PrintedOutput } from './printed-output.js'
import { type Run, showProgress, storeIsUsedUp } from './run.js'

/** How a cell ended, and what it printed. */
export interface CellRun {
  readonly end: CellEnd
  readonly output: string | HeldText
}

/** Runs one cell to its end: advance, serve the calls, advance with what has arrived. */
export async function runCell(run: Run, notebook: Notebook, source: Held<string>): Promise<CellRun> {
  const { sourceBytes, cellTotalSeconds, storedBytes } = run.plan.limits
  const bytes = typeof source === 'string' ? utf8Length(source) : (refOf(source)?.bytes ?? 0)
  if (bytes > sourceBytes) return { end: tooLarge(bytes, sourceBytes), output: '' }
  if (storeIsUsedUp(run)) return { end: tooMuchStored(storedBytes, true), output: '' }
  notebook.alarm.clear()
  run.counts.cells += 1
  const cell: CellState = {
    number: run.counts.cells,
    turn: run.counts.turns,
    deadline: Date.now() + cellTotalSeconds * 1_000,
    wakeAt: null,
    calls: 0,
    wakes: 0,
    printed: { parts: [], length: 0 },
  }
  notebook.openCalls.beginCell()
  return whileBusy(notebook, () =>
    toItsEnd(run, notebook, cell, (room) => {
      showProgress(run, `running cell ${cell.number}`)
      return notebook.session.advance({ type: 'cell', cell: cell.number, source }, room)
    }),
  )
}

/** Goes on with a cell that an earlier run of the chain began. */
export function resumeCell(run: Run, notebook: Notebook, cell: CellState): Promise<CellRun> {
  return whileBusy(notebook, () => toItsEnd(run, notebook, cell, undefined))
}

async function whileBusy<Result>({ use }: Notebook, work: () => Promise<Result>): Promise<Result> {
  use.isBusy = true
  try {
    return await work()
  } finally {
    use.isBusy = false
    use.lastAt = Date.now()
  }
}

/** Begins the calls that were made in an earlier run of the chain and have not begun. */
export function resumeCalls(run: Run, { openCalls }: Notebook, waiting: readonly CallOfCell[]): void {
  for (const call of waiting) openCalls.start(call, serveWith(run))
}

function serveWith(run: Run) {
  return ({ call, turn, cell }: CallOfCell, record: Record): Promise<void> =>
    run.slots.hold(async () => record(await callTool(run, call, 'code_execution', { turn, cell, index: call.index })))
}

/** Characters of output that every step may carry, whatever the cell has printed before: its end says the most. */
const leastOutput = 1_000

async function toItsEnd(
  run: Run,
  notebook: Notebook,
  state: CellState,
  begin: ((room: number) => Promise<TakenAnswer>) | undefined,
): Promise<CellRun> {
  const { limits } = run.plan
  const { session, openCalls, mayContinue, outputCharacters } = notebook
  const printed = new PrintedOutput(outputCharacters, state.printed)
  const room = () => Math.max(limits.capturedCharacters - printed.length, leastOutput)
  const endedAs = (end: CellEnd): CellRun => {
    beginIdle(notebook)
    return { end, output: printed.text }
  }
  let cell = state
  let answer = await begin?.(room())
  for (;;) {
    if (answer) {
      if ('output' in answer) printed.add(answer.output)
      if (answer.type !== 'suspended') return endedAs(endOf(answer, openCalls))
      const { calls, wakeInMs } = answer
      const wakeAt = wakeInMs === null ? null : Date.now() + wakeInMs
      cell = { ...cell, calls: cell.calls + calls.length, wakeAt }
      const broken =
        calls.length > 0 && storeIsUsedUp(run)
          ? tooMuchStored(limits.storedBytes, false)
          : brokenSuspension(answer, openCalls, cell.calls > limits.callsPerCell ? limits.callsPerCell : null)
      if (broken) {
        // But for what is stored, the runner lets none of this happen; only code that got hold of it does.
        const isSpoilt = openCalls.areOfEarlierCells(answer.calls)
        if (isSpoilt) openCalls.clear()
        else openCalls.dropCell()
        await (isSpoilt ? session.dropAll() : session.dropCell())
        return endedAs(broken)
      }
      if (session.interruption.isWanted) return endedAs(await stopCell(notebook, 'stopped', interruptedText, printed))
      for (const call of calls) openCalls.start({ call, turn: cell.turn, cell: cell.number }, serveWith(run))
    }
    showProgress(run, `cell ${cell.number} waits for ${plural(openCalls.size, 'tool call')}`)
    await mayContinue({ ...cell, printed: { parts: printed.parts, length: printed.length } })
    const woken = await untilWoken(run, notebook, cell)
    if (woken.type === 'overdue') {
      return endedAs(await stopCell(notebook, 'timed_out', tooLong(limits.cellTotalSeconds), printed))
    }
    if (woken.type === 'interrupted') return endedAs(await stopCell(notebook, 'stopped', interruptedText, printed))
    if (woken.results.length === 0) cell = { ...cell, wakes: cell.wakes + 1 }
    if (cell.wakes > limits.wakesPerCell) {
      return endedAs(await stopCell(notebook, 'limit_exceeded', tooRestless(limits.wakesPerCell), printed))
    }
    showProgress(run, `running cell ${cell.number}`)
    answer = await session.advance(woken, room())
  }
}

/** Ends a cell that waits. Its variables are kept if its code lets itself be stopped. */
async function stopCell(
  notebook: Notebook,
  status: 'timed_out' | 'limit_exceeded' | 'stopped',
  reason: string,
  printed: PrintedOutput,
): Promise<CellEnd> {
  const answer = await notebook.session.advance({ type: 'stop', reason }, leastOutput)
  if ('output' in answer) printed.add(answer.output)
  switch (answer.type) {
    case 'completed':
    case 'failed':
      notebook.openCalls.cancel()
      return { status, error: reason, sessionKept: true }
    case 'suspended':
      notebook.openCalls.cancelCell()
      await notebook.session.dropCell()
      return { status, error: reason, sessionKept: false }
    case 'lost':
      notebook.openCalls.cancelCell()
      return { status, error: reason, sessionKept: false }
    case 'diverged':
      return endOf(answer, notebook.openCalls)
  }
}

/** Why a suspension can't be served; undefined when it can. */
function brokenSuspension(
  { calls, wakeInMs }: Extract<DescribedAnswer, { type: 'suspended' }>,
  openCalls: OpenCalls,
  callLimit: number | null,
): CellEnd | undefined {
  if (callLimit !== null) return tooManyCalls(callLimit)
  if (!openCalls.areNew(calls))
    return { status: 'lost', error: 'the sandbox gave a call a number that can not be its own' }
  if (calls.length === 0 && openCalls.size === 0 && wakeInMs === null) {
    return { status: 'lost', error: 'the sandbox waits for nothing' }
  }
  return undefined
}
