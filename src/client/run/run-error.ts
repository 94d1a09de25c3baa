import {
  ActivityFailure,
  ApplicationFailure,
  CancelledFailure,
  type Client,
  TerminatedFailure,
  TimeoutFailure,
  WorkflowExecutionAlreadyStartedError,
  WorkflowFailedError,
  WorkflowUpdateFailedError,
} from '@temporalio/client'
import { type ErrorCode, errorTable, messageOf, PtcError } from '../../common/errors.js'
import { activityNames } from '../../common/names.js'
import { fetchRunInfo } from './run-info.js'
import { isFailedPrecondition, temporalError } from '../temporal/temporal-error.js'

/**
 * Maps the failure of a run, or of an update, to one error: the innermost failure gives the message, its type the code.
 * An error of the request itself is mapped by {@link temporalError}.
 */
export function runError(thrown: unknown, workflowId: string): PtcError {
  if (isFailedPrecondition(thrown)) {
    return new PtcError('RUN_BUSY', `the workflow task of ${workflowId} keeps failing`, {
      hint: `\`ptc show ${workflowId}\` says why. Try again when it no longer fails.`,
      cause: thrown,
    })
  }
  if (!(thrown instanceof WorkflowFailedError || thrown instanceof WorkflowUpdateFailedError)) {
    return temporalError(thrown, `get the result of ${workflowId}`, workflowId)
  }
  const causes = causesOf(thrown.cause)
  const [outermost] = causes
  if (outermost instanceof CancelledFailure) {
    return new PtcError('RUN_CANCELLED', `run ${workflowId} was cancelled`, { cause: thrown })
  }
  if (outermost instanceof TerminatedFailure) {
    return new PtcError('RUN_TERMINATED', `run ${workflowId} was terminated: ${outermost.message}`, { cause: thrown })
  }
  const root = causes.at(-1)
  const message = messageOf(root ?? thrown)
  if (root instanceof ApplicationFailure) return new PtcError(codeOf(root), message, { cause: thrown })
  if (root instanceof TimeoutFailure) return timeoutError(causes, root, thrown)
  return new PtcError('INTERNAL', message, { cause: thrown })
}

/**
 * Returns the error of a run that could not be started. The server refuses the id of an open run and the id of an ended
 * run with the same error, so the function looks up the run.
 */
export async function startError(client: Client, thrown: unknown): Promise<PtcError> {
  if (!(thrown instanceof WorkflowExecutionAlreadyStartedError)) return temporalError(thrown, 'start a run')
  const { workflowId } = thrown
  const described = await fetchRunInfo(client, { workflowId }).catch(() => undefined)
  const status = described && ` (${(described.outcome ?? described.status).replaceAll('_', ' ')})`
  return new PtcError('RUN_EXISTS', `there is already a run ${workflowId}${status ?? ''}`, {
    hint: `\`ptc show ${workflowId}\` shows it. Choose another id, or none, to start another run.`,
    cause: thrown,
  })
}

function causesOf(first: unknown): readonly unknown[] {
  const causes: unknown[] = []
  for (let error = first; error instanceof Error && !causes.includes(error); error = error.cause) causes.push(error)
  return causes
}

function codeOf({ type }: ApplicationFailure): ErrorCode {
  return type !== null && type !== undefined && Object.hasOwn(errorTable, type) ? (type as ErrorCode) : 'INTERNAL'
}

/** Returns the error for a timeout. A timeout has no error code, so the type of the activity decides. */
function timeoutError(causes: readonly unknown[], root: TimeoutFailure, cause: unknown): PtcError {
  const activity = causes.findLast((each) => each instanceof ActivityFailure)
  if (activity === undefined) return new PtcError('RUN_TIMED_OUT', root.message, { cause })
  const message = `${activity.activityType} timed out (${root.timeoutType})`
  const hint = 'Check that a worker serves this role: `ptc doctor`.'
  const isModel = activity.activityType === activityNames.modelTurn
  return new PtcError(isModel ? 'MODEL_TIMEOUT' : 'SANDBOX_LOST', message, { hint, cause })
}
