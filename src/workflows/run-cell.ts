import type { CellOutcome } from '../common/outcomes.js'
import type { AdvanceAnswer, DescribedCall, LostCause, StepAnswer } from '../common/steps.js'
import { plural, utf8Length } from '../common/text.js'
import { callTool } from './call-tool.js'
import { CellOutput } from './cell-output.js'
import { beginIdle, type Notebook, untilWoken } from './notebook.js'
import type { OpenCalls } from './open-calls.js'
import { type Run, showProgress } from './run.js'

type Suspended = Extract<StepAnswer<DescribedCall>, { type: 'suspended' }>

/**
 * Runs one cell to its end: advance, serve the calls, advance with what has arrived.
 *
 * @param outputCharacters of the outcome; what the reader gets
 */
export async function runCell(
  run: Run,
  notebook: Notebook,
  source: string,
  outputCharacters = run.plan.limits.outputCharacters,
): Promise<CellOutcome> {
  const size = utf8Length(source)
  const { sourceBytes } = run.plan.limits
  if (size > sourceBytes) return tooLarge(size, sourceBytes)
  notebook.alarm.clear()
  const output = new CellOutput(outputCharacters)
  const { use } = notebook
  use.isBusy = true
  try {
    const outcome = await toItsEnd(run, notebook, source, output)
    beginIdle(notebook)
    return { ...outcome, output: output.text }
  } finally {
    use.isBusy = false
    use.lastAt = Date.now()
  }
}

/** Characters of output that every step may carry, whatever the cell has printed before: its end says the most. */
const leastOutput = 1_000

async function toItsEnd(run: Run, notebook: Notebook, source: string, output: CellOutput): Promise<CellEnd> {
  const { limits } = run.plan
  const { session, openCalls } = notebook
  const { turns: turn } = run.counts
  const cell = (run.counts.cells += 1)
  const serve = (call: DescribedCall) => callTool(run, call, 'code_execution', { turn, cell, index: call.index })
  const deadline = Date.now() + limits.cellTotalSeconds * 1_000
  const room = () => Math.max(limits.capturedCharacters - output.length, leastOutput)
  let calls = 0
  let wakes = 0
  openCalls.beginCell()
  showProgress(run, `running cell ${cell}`)
  let answer = await session.advance({ type: 'cell', cell, source }, room())
  for (;;) {
    if ('output' in answer) output.add(answer.output)
    if (answer.type !== 'suspended') return endOf(answer, openCalls)
    calls += answer.calls.length
    const broken = brokenSuspension(answer, openCalls, calls > limits.callsPerCell ? limits.callsPerCell : null)
    if (broken) {
      // The runner lets none of this happen; only code that got hold of it does.
      openCalls.dropCell()
      await session.dropCell()
      return broken
    }
    if (session.interruption.isWanted) return stopCell(notebook, 'stopped', interruptedText, output)
    for (const call of answer.calls) openCalls.start(call, serve)
    showProgress(run, `cell ${cell} waits for ${plural(openCalls.size, 'tool call')}`)
    const woken = await untilWoken(run, notebook, answer.wakeInMs, deadline)
    if (woken.type === 'overdue') return stopCell(notebook, 'timed_out', tooLong(limits.cellTotalSeconds), output)
    if (woken.type === 'interrupted') return stopCell(notebook, 'stopped', interruptedText, output)
    if (woken.results.length === 0) wakes += 1
    if (wakes > limits.wakesPerCell) {
      return stopCell(notebook, 'limit_exceeded', tooRestless(limits.wakesPerCell), output)
    }
    showProgress(run, `running cell ${cell}`)
    answer = await session.advance(woken, room())
  }
}

/** What a cell came to, but for its output. */
type CellEnd = DistributiveOmit<CellOutcome, 'output'>
type DistributiveOmit<Union, Key extends string> = Union extends unknown ? Omit<Union, Key> : never

type Ended = Exclude<AdvanceAnswer, { type: 'suspended' | 'repeated' }>

function endOf(answer: Ended, openCalls: OpenCalls): CellEnd {
  switch (answer.type) {
    case 'completed':
      return { status: 'ok' }
    case 'failed':
      if (answer.kind === 'code_error') return { status: 'code_error', error: answer.error }
      openCalls.cancel() // the runner has forgotten them too
      return { status: answer.kind, error: answer.error, sessionKept: true }
    case 'lost':
      openCalls.dropCell()
      return lostEnd(answer.cause, answer.reason)
    case 'diverged':
      openCalls.clear()
      return { status: 'diverged', error: answer.reason }
  }
}

/** Ends a cell that waits. Its variables are kept if its code lets itself be stopped. */
async function stopCell(
  notebook: Notebook,
  status: 'timed_out' | 'limit_exceeded' | 'stopped',
  reason: string,
  output: CellOutput,
): Promise<CellEnd> {
  const answer = await notebook.session.advance({ type: 'stop', reason }, leastOutput)
  if ('output' in answer) output.add(answer.output)
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

const interruptedText = 'KeyboardInterrupt: the code was stopped while it waited'

function tooLong(seconds: number): string {
  return `the code was stopped: with all it waits for it may take ${seconds} seconds. Wait for less at a time.`
}

function tooRestless(wakes: number): string {
  return `the code was stopped: it was woken ${wakes} times with nothing new. Sleep longer at a time.`
}

/** Why a suspension can't be served; undefined when it can. */
function brokenSuspension(
  { calls, wakeInMs }: Suspended,
  openCalls: OpenCalls,
  callLimit: number | null,
): CellEnd | undefined {
  if (callLimit !== null) {
    return {
      status: 'limit_exceeded',
      error: `more than ${callLimit} tool calls in one cell. Make the rest in the next cell.`,
      sessionKept: false,
    }
  }
  if (!openCalls.areNew(calls)) return { status: 'lost', error: 'the sandbox repeated the number of a call' }
  if (calls.length === 0 && openCalls.size === 0 && wakeInMs === null) {
    return { status: 'lost', error: 'the sandbox waits for nothing' }
  }
  return undefined
}

function lostEnd(cause: LostCause, reason: string): CellEnd {
  switch (cause) {
    case 'killed_at_limit':
      return { status: 'timed_out', error: `${reason}. Do less in one cell.`, sessionKept: false }
    case 'out_of_memory':
      return { status: 'limit_exceeded', error: `${reason}. Hold less of it at a time.`, sessionKept: false }
    case 'gone':
    case 'protocol':
      return { status: 'lost', error: reason }
  }
}

function tooLarge(size: number, limit: number): CellOutcome {
  return {
    status: 'limit_exceeded',
    output: '',
    error: `the code has ${size} bytes, the limit is ${limit}. Send it in parts.`,
    sessionKept: true,
  }
}
