import type { CellOutcome } from '../../common/outcomes.js'
import type { LostCause, StepOutcome } from '../../common/steps.js'
import type { PendingCalls } from './pending-calls.js'

type DistributiveOmit<Union, Key extends string> = Union extends unknown ? Omit<Union, Key> : never

/** What a cell came to, but for its output. */
export type CellEnd = DistributiveOmit<CellOutcome, 'output'>

type Ended = Exclude<StepOutcome, { type: 'suspended' }>

/** How the last result of a sandbox ends its cell; the calls of a program that is gone are forgotten. */
export function cellEndOf(result: Ended, pendingCalls: PendingCalls): CellEnd {
  switch (result.type) {
    case 'completed':
      return { status: 'ok' }
    case 'failed':
      if (result.kind === 'code_error') return { status: 'code_error', error: result.error }
      pendingCalls.cancelAll() // the runner has forgotten them too
      return { status: result.kind, error: result.error, sessionKept: true }
    case 'lost':
      pendingCalls.dropCell()
      return lostEnd(result.cause, result.reason)
    case 'diverged':
      pendingCalls.clear()
      return { status: 'diverged', error: result.reason }
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

export function storageExceeded(limit: number, sessionKept: boolean): CellEnd {
  return {
    status: 'limit_exceeded',
    error: `arguments, results and output of this session have used up their ${limit} bytes. It runs no more code and calls no more tools.`,
    sessionKept,
  }
}

export const interruptedMessage = 'KeyboardInterrupt: the code was stopped while it waited'

export function totalTimeExceeded(seconds: number): string {
  return `the code was stopped: with all it waits for it may take ${seconds} seconds. Wait for less at a time.`
}

export function tooManyWakes(wakes: number): string {
  return `the code was stopped: it was wait ${wakes} times with nothing new. Sleep longer at a time.`
}

export function sourceTooLarge(bytes: number, limit: number): CellEnd {
  return {
    status: 'limit_exceeded',
    error: `the code has ${bytes} bytes, the limit is ${limit}. Send it in parts.`,
    sessionKept: true,
  }
}
