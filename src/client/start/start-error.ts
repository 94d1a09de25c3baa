import { type Client, WorkflowExecutionAlreadyStartedError } from '@temporalio/client'
import { PtcError } from '../../common/errors.js'
import { describeRun } from '../run/describe-run.js'
import { temporalError } from '../temporal/temporal-error.js'

/**
 * Returns the error of a run that could not be started. The server refuses the id of an open run and the id of an ended
 * run with the same error, so the function looks up the run.
 */
export async function startError(client: Client, thrown: unknown): Promise<PtcError> {
  if (!(thrown instanceof WorkflowExecutionAlreadyStartedError)) return temporalError(thrown, 'start a run')
  const { workflowId } = thrown
  const described = await describeRun(client, { workflowId }).catch(() => undefined)
  const status = described && ` (${(described.outcome ?? described.status).replaceAll('_', ' ')})`
  return new PtcError('RUN_EXISTS', `there is already a run ${workflowId}${status ?? ''}`, {
    hint: `\`ptc show ${workflowId}\` shows it. Choose another id, or none, to start another run.`,
    cause: thrown,
  })
}
