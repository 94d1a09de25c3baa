import type { AuditLog } from '../../audit/index.js'
import type { AuditCallInput } from '../../common/calls.js'
import { requesterOf } from '../../common/requester.js'
import { runActivity } from '../run-activity.js'

/**
 * Activity `audit.call`: stores the begin or the end of a call that somebody else's worker executes.
 *
 * @throws PtcError AUDIT_UNAVAILABLE for a begin
 */
export function auditCall(audit: AuditLog | undefined) {
  return ({ tool, caller, position, idempotencyKey, context, event }: AuditCallInput): Promise<void> =>
    runActivity(async ({ workflowId, runId, signal }) => {
      const { turn, cell, index: call } = position
      const identity = { workflowId, runId, ...requesterOf(context) }
      // Attempts of the other worker are not known here: the event is about all of them.
      const fields = { ...identity, attempt: 1, tool, caller, turn, cell, call, idempotencyKey }
      if (event.kind === 'call.begins') {
        await audit?.before({ ...fields, ...event, id: `${idempotencyKey}/call.begins` }, signal)
      } else {
        await audit?.after({ ...fields, ...event, id: `${idempotencyKey}/call.ends/1` })
      }
    })
}
