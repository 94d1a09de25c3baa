import { type Client, WorkflowNotFoundError } from '@temporalio/client'
import { sessionMessages } from '../../common/names.js'
import type { InterruptSignal } from '../../common/sessions.js'
import { temporalError } from '../temporal-error.js'
import { type Located, sessionName } from './name.js'

/**
 * Interrupts what a session executes. Durable: it arrives however many workers are lost on the way. Fine when the session is over.
 *
 * @throws PtcError TEMPORAL_UNREACHABLE
 */
export async function interruptSession(
  { workflow }: Client,
  { workflowId, runId }: Located,
  which: InterruptSignal,
): Promise<void> {
  try {
    await workflow.getHandle(workflowId, runId).signal<[InterruptSignal]>(sessionMessages.interrupt, which)
  } catch (thrown) {
    if (thrown instanceof WorkflowNotFoundError) return
    throw temporalError(thrown, `interrupt session ${sessionName(workflowId)}`, workflowId)
  }
}
