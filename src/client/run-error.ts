import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  TerminatedFailure,
  TimeoutFailure,
  WorkflowFailedError,
  WorkflowUpdateFailedError,
} from '@temporalio/client'
import { type ErrorCode, errorTable, messageOf, PtcError } from '../common/errors.js'
import { activityNames } from '../common/names.js'
import { temporalError } from './temporal-error.js'

/**
 * Why a run did not end well, as one error: the innermost failure says it best, its type is the code. What is no failure of
 * the run but of asking for it becomes what {@link temporalError} makes of it.
 */
export function runError(thrown: unknown, workflowId: string): PtcError {
  if (!(thrown instanceof WorkflowFailedError || thrown instanceof WorkflowUpdateFailedError)) {
    return temporalError(thrown, `get the result of ${workflowId}`, workflowId)
  }
  const chain = causesOf(thrown.cause)
  const [outermost] = chain
  if (outermost instanceof CancelledFailure) {
    return new PtcError('RUN_CANCELLED', `run ${workflowId} was cancelled`, { cause: thrown })
  }
  if (outermost instanceof TerminatedFailure) {
    return new PtcError('RUN_TERMINATED', `run ${workflowId} was terminated: ${outermost.message}`, { cause: thrown })
  }
  const root = chain.at(-1)
  const message = messageOf(root ?? thrown)
  if (root instanceof ApplicationFailure) return new PtcError(codeOf(root), message, { cause: thrown })
  if (root instanceof TimeoutFailure) return timeout(chain, root, thrown)
  return new PtcError('INTERNAL', message, { cause: thrown })
}

function causesOf(first: unknown): readonly unknown[] {
  const chain: unknown[] = []
  for (let each = first; each instanceof Error && !chain.includes(each); each = each.cause) chain.push(each)
  return chain
}

function codeOf({ type }: ApplicationFailure): ErrorCode {
  return type !== null && type !== undefined && Object.hasOwn(errorTable, type) ? (type as ErrorCode) : 'INTERNAL'
}

/** A timeout has no type of ours: the activity that timed out says what it was about. */
function timeout(chain: readonly unknown[], root: TimeoutFailure, cause: unknown): PtcError {
  const activity = chain.findLast((each) => each instanceof ActivityFailure)
  if (activity === undefined) return new PtcError('RUN_TIMED_OUT', root.message, { cause })
  const message = `${activity.activityType} got no answer in time (${root.timeoutType})`
  const hint = 'Is a worker running that serves this part? `ptc doctor` and the Temporal UI tell.'
  const isModel = activity.activityType === activityNames.modelTurn
  return new PtcError(isModel ? 'MODEL_TIMEOUT' : 'SANDBOX_LOST', message, { hint, cause })
}
