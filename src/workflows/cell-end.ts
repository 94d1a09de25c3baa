import type { CellOutcome } from '../common/outcomes.js'
import type { LostCause, TakenAnswer } from '../common/steps.js'
import type { OpenCalls } from './open-calls.js'

type DistributiveOmit<Union, Key extends string> = Union extends unknown ? Omit<Union, Key> : never

/** What a cell came to, but for its output. */
export type CellEnd = DistributiveOmit<CellOutcome, 'output'>

type Ended = Exclude<TakenAnswer, { type: 'suspended' }>

/** How the last answer of a sandbox ends its cell; the calls of a program that is gone are forgotten. */
export function endOf(answer: Ended, openCalls: OpenCalls): CellEnd {
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

export function tooManyCalls(limit: number): CellEnd {
  return {
    status: 'limit_exceeded',
    error: `more than ${limit} tool calls in one cell. Make the rest in the next cell.`,
    sessionKept: false,
  }
}

export function tooMuchStored(limit: number, sessionKept: boolean): CellEnd {
  return {
    status: 'limit_exceeded',
    error: `arguments, results and output of this session have used up their ${limit} bytes. It runs no more code and calls no more tools.`,
    sessionKept,
  }
}

export const interruptedText = 'KeyboardInterrupt: the code was stopped while it waited'

export function tooLong(seconds: number): string {
  return `the code was stopped: with all it waits for it may take ${seconds} seconds. Wait for less at a time.`
}

export function tooRestless(wakes: number): string {
  return `the code was stopped: it was woken ${wakes} times with nothing new. Sleep longer at a time.`
}

export function tooLarge(bytes: number, limit: number): CellEnd {
  return {
    status: 'limit_exceeded',
    error: `the code has ${bytes} bytes, the limit is ${limit}. Send it in parts.`,
    sessionKept: true,
  }
}
