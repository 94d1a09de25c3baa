import { isCancellation } from '@temporalio/workflow'
import type { AuditCallInput } from '../../../common/calls/call-activities.js'
import { defined } from '../../../common/defined.js'
import { auditCallEvent } from '../../temporal/activities.js'
import type { RunCall } from '../run-call.js'

/** Reports an event to the audit log of the workers, if they have one. The call does not begin when that fails. */
export async function reportBegin(call: RunCall, event: AuditCallInput['event']): Promise<void> {
  const { isAudited, context, timeouts } = call.run.config
  if (!isAudited) return
  const { arguments: _, ...identity } = call.input
  await auditCallEvent({ ...identity, ...defined({ context }), event }, timeouts)
}

/**
 * As {@link reportBegin}, for a call that has ended: a failure changes nothing.
 *
 * @throws CancelledFailure
 */
export async function reportEnd(call: RunCall, event: AuditCallInput['event']): Promise<void> {
  try {
    await reportBegin(call, event)
  } catch (thrown) {
    if (isCancellation(thrown)) throw thrown
  }
}
