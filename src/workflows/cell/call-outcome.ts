import { ActivityFailure, ApplicationFailure, isCancellation, TimeoutFailure } from '@temporalio/workflow'
import { type CallOutcome, toCallStatus, workerShutdownFailureType } from '../../common/outcomes.js'
import type { ErrorCode } from '../../common/errors.js'
import type { ToolConfig } from '../../common/run-config.js'

/** How a failed tool activity ended, for the caller. Cancellation of the run itself is thrown on. */
export function toCallOutcome(thrown: unknown, tool: ToolConfig): CallOutcome {
  if (isCancellation(thrown) || !(thrown instanceof ActivityFailure)) throw thrown
  const { cause } = thrown
  if (cause instanceof ApplicationFailure && cause.type !== workerShutdownFailureType) {
    const status = toCallStatus(cause.type ?? '')
    if (status === 'outcome_unknown') return outcomeUnknown(tool, cause.message)
    if (status === 'timed_out' && tool.effect === 'once') return outcomeUnknown(tool, 'it did not answer in time')
    if (tool.effect === 'once' && isOutcomeUnknownTo(cause.type ?? '')) return outcomeUnknown(tool, cause.message)
    return { status, message: cause.message }
  }
  if (tool.effect === 'once') return outcomeUnknown(tool, 'the worker that ran it was lost')
  if (cause instanceof TimeoutFailure)
    return { status: 'timed_out', message: `${tool.name} was lost with its worker, again and again` }
  return { status: 'tool_error', message: cause?.message ?? thrown.message }
}

/** Of a tool that threw, or whose result was lost: nobody has said that nothing happened, as a ToolError does. */
function isOutcomeUnknownTo(code: string): boolean {
  return code === failed || code.startsWith('VALUE_')
}

const failed: ErrorCode = 'TOOL_FAILED'

function outcomeUnknown(tool: ToolConfig, why: string): CallOutcome {
  return {
    status: 'outcome_unknown',
    message: `${tool.name} may or may not have happened: ${why}. It is not repeated by itself.`,
  }
}
