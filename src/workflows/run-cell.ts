import type { CellOutcome } from '../common/outcomes.js'
import type { DescribedCall, LostCause, StepAnswer } from '../common/steps.js'
import { cutMiddle, plural, utf8Length } from '../common/text.js'
import { callTool } from './call-tool.js'
import { OpenCalls } from './open-calls.js'
import { type Run, showProgress } from './run.js'
import { Session } from './session.js'

type Suspended = Extract<StepAnswer<DescribedCall>, { type: 'suspended' }>

/** The code side of a run: one session, its cells one after the other, and the calls that are open in it. */
export interface Notebook {
  readonly session: Session
  readonly openCalls: OpenCalls
}

export function openNotebook(run: Run): Notebook {
  return { session: new Session(run), openCalls: new OpenCalls() }
}

/** Runs one cell to its end: advance, serve the calls, advance with what has arrived. */
export async function runCell(run: Run, notebook: Notebook, source: string): Promise<CellOutcome> {
  const { limits } = run.plan
  const { session, openCalls } = notebook
  const { turns: turn } = run.counts
  const size = utf8Length(source)
  if (size > limits.sourceBytes) return tooLarge(size, limits.sourceBytes)
  const cell = (run.counts.cells += 1)
  const serve = (call: DescribedCall) => callTool(run, call, 'code_execution', { turn, cell, index: call.index })
  let calls = 0
  let output = ''
  openCalls.beginCell()
  showProgress(run, `running cell ${cell}`)
  let answer = await session.advance({ type: 'cell', cell, source })
  for (;;) {
    if ('output' in answer) output = cutMiddle(output + answer.output, limits.outputCharacters)
    switch (answer.type) {
      case 'completed':
        return { status: 'ok', output }
      case 'failed':
        return answer.kind === 'code_error'
          ? { status: 'code_error', output, error: answer.error }
          : { status: answer.kind, output, error: answer.error, sessionKept: true }
      case 'lost':
        openCalls.dropCell()
        return lostOutcome(answer.cause, answer.reason, output)
      case 'diverged':
        openCalls.clear()
        return { status: 'diverged', output, error: answer.reason }
      case 'suspended':
    }
    calls += answer.calls.length
    const broken = brokenSuspension(answer, openCalls, calls > limits.callsPerCell ? limits.callsPerCell : null)
    if (broken) {
      // The runner lets none of this happen; only code that got hold of it does.
      openCalls.dropCell()
      await session.dropCell()
      return { ...broken, output }
    }
    for (const call of answer.calls) openCalls.start(call, serve)
    showProgress(run, `cell ${cell} waits for ${plural(openCalls.size, 'tool call')}`)
    const results = await openCalls.next(answer.wakeInMs)
    showProgress(run, `running cell ${cell}`)
    answer = await session.advance({ type: 'results', results })
  }
}

/** Why a suspension can't be served; undefined when it can. */
function brokenSuspension(
  { calls, wakeInMs }: Suspended,
  openCalls: OpenCalls,
  callLimit: number | null,
): Exclude<CellOutcome, { status: 'ok' }> | undefined {
  if (callLimit !== null) {
    return {
      status: 'limit_exceeded',
      output: '',
      error: `more than ${callLimit} tool calls in one cell`,
      sessionKept: false,
    }
  }
  if (!openCalls.areNew(calls))
    return { status: 'lost', output: '', error: 'the sandbox repeated the number of a call' }
  if (calls.length === 0 && openCalls.size === 0 && wakeInMs === null) {
    return { status: 'lost', output: '', error: 'the sandbox waits for nothing' }
  }
  return undefined
}

function lostOutcome(cause: LostCause, reason: string, output: string): CellOutcome {
  switch (cause) {
    case 'killed_at_limit':
      return { status: 'timed_out', output, error: reason, sessionKept: false }
    case 'out_of_memory':
      return { status: 'limit_exceeded', output, error: reason, sessionKept: false }
    case 'gone':
    case 'protocol':
      return { status: 'lost', output, error: reason }
  }
}

function tooLarge(size: number, limit: number): CellOutcome {
  return {
    status: 'limit_exceeded',
    output: '',
    error: `the code has ${size} bytes, the limit is ${limit}`,
    sessionKept: true,
  }
}
