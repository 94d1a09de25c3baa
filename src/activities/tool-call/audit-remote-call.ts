import type { AuditLog } from '../../audit/index.js'
import type { AuditCallInput } from '../../common/calls.js'
import { requesterOf } from '../../common/requester.js'
import { callEvents } from '../audit-events.js'
import { runActivity } from '../run-activity.js'

/**
 * Activity `audit.call`: stores the begin or the end of a call that somebody else's worker executes.
 *
 * @throws PtcError AUDIT_UNAVAILABLE for a begin
 */
export function auditRemoteCall(audit: AuditLog | undefined) {
  return ({ context, event, ...call }: AuditCallInput): Promise<void> =>
    runActivity(async ({ workflowId, runId, signal }) => {
      // Attempts of the other worker are not known here: the event is about all of them.
      const events = callEvents(call, { workflowId, runId, attempt: 1, requester: requesterOf(context) })
      if (event.kind === 'call.begins') await audit?.before(events.begin(event.digest), signal)
      else await audit?.after(events.end(event.status))
    })
}
