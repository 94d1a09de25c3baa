import type { AuditLog } from '../../audit/index.js'
import type { AuditCallInput } from '../../common/calls/calls.js'
import { requesterOf } from '../../common/runs/requester.js'
import { callEvents } from '../audit-events.js'
import { runActivity } from '../run-activity.js'

/**
 * Activity `audit.call`: stores the start or the end of a call that a worker of another application executes, or the
 * decision on a deferred call.
 *
 * @throws PtcError AUDIT_UNAVAILABLE for a start, and for a decision by a person or a client
 */
export function auditCallEvent(audit: AuditLog | undefined) {
  return ({ context, event, ...call }: AuditCallInput): Promise<void> =>
    runActivity(async ({ workflowId, runId, signal }) => {
      // The event is about all attempts of the call.
      const events = callEvents(call, { workflowId, runId, attempt: 1, requester: requesterOf(context) })
      if (event.kind === 'call.started') await audit?.before(events.begin(event.digest), signal)
      else if (event.kind === 'call.completed') await audit?.after(events.end(event.status))
      else if (event.decision === 'expired') await audit?.after(events.decision(event))
      else await audit?.before(events.decision(event), signal)
    })
}
