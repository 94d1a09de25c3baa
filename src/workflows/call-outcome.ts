import { ActivityFailure, ApplicationFailure, isCancellation, TimeoutFailure } from '@temporalio/workflow'
import type { CallOutcome, CallStatus } from '../common/outcomes.js'
import type { ErrorCode } from '../common/errors.js'
import type { ToolPlan } from '../common/plan.js'

/** What a tool activity's error code means to the caller; every other code is the tool's failure too. */
const statusOf: { readonly [Code in ErrorCode]?: Exclude<CallStatus, 'ok'> } = {
  TOOL_UNKNOWN: 'denied',
  TOOL_NOT_ALLOWED: 'denied',
  TOOL_INPUT_INVALID: 'invalid_arguments',
  TOOL_TIMED_OUT: 'timed_out',
}

/** How a failed tool activity ended, for the caller. Cancellation of the run itself is thrown on. */
export function toCallOutcome(thrown: unknown, tool: ToolPlan): CallOutcome {
  if (isCancellation(thrown) || !(thrown instanceof ActivityFailure)) throw thrown
  const { cause } = thrown
  if (cause instanceof ApplicationFailure && cause.type !== workerShutdown) {
    const status = statusOf[cause.type as ErrorCode] ?? 'tool_error'
    if (status === 'timed_out' && tool.effect === 'once') return unknown(tool, 'it did not answer in time')
    return { status, message: cause.message }
  }
  if (tool.effect === 'once') return unknown(tool, 'the worker that ran it was lost')
  if (cause instanceof TimeoutFailure)
    return { status: 'timed_out', message: `${tool.name} was lost with its worker, again and again` }
  return { status: 'tool_error', message: cause?.message ?? thrown.message }
}

/** The type the SDK gives an activity that was interrupted because its worker stops. */
const workerShutdown = 'WorkerShutdown'

function unknown(tool: ToolPlan, why: string): CallOutcome {
  return {
    status: 'outcome_unknown',
    message: `${tool.name} may or may not have happened: ${why}. It is not repeated by itself.`,
  }
}
