import { type Client, WorkflowNotFoundError } from '@temporalio/client'
import { sessionMessages } from '../../common/names.js'
import type { InterruptSignalInput } from '../../common/session/session.js'
import { temporalError } from '../temporal/temporal-error.js'
import { sessionName } from './session-name.js'
import type { WorkflowExecution } from '../temporal/history-pages.js'

/**
 * Interrupts the code that a session executes, by a signal, which survives worker crashes. Does nothing when the
 * session has ended.
 *
 * @throws PtcError TEMPORAL_UNREACHABLE
 */
export async function interruptSession(
  { workflow }: Client,
  { workflowId, runId }: WorkflowExecution,
  target: InterruptSignalInput,
): Promise<void> {
  try {
    await workflow.getHandle(workflowId, runId).signal<[InterruptSignalInput]>(sessionMessages.interrupt, target)
  } catch (thrown) {
    if (thrown instanceof WorkflowNotFoundError) return
    throw temporalError(thrown, `interrupt session ${sessionName(workflowId)}`, workflowId)
  }
}
