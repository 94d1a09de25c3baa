import type { AuditLog } from '../../audit/index.js'
import type { ToolActivityInput } from '../../common/calls/calls.js'
import { failpoint } from '../../common/failpoint.js'
import { requesterOf } from '../../common/run/requester.js'
import type { StreamPublisher } from '../../stream/index.js'
import type { ToolRegistry } from '../../tools/registry.js'
import { redactSummary, summarizeArguments } from '../../tools/calls/summary.js'
import type { Values } from '../../values/values.js'
import { auditCall } from '../audit-events.js'
import { runActivity } from '../run-activity.js'
import { streamCall } from '../stream-events.js'
import { loadArguments } from './load-arguments.js'

/**
 * Activity `tool.client`: adds a call of a client tool to the history, the live stream and the audit log. The client
 * reads the call from the history, and answers it.
 *
 * @throws PtcError AUDIT_UNAVAILABLE, and errors of the value store
 */
export function announceClientCall(
  { redact }: Pick<ToolRegistry, 'redact'>,
  values: Values,
  audit: AuditLog | undefined,
  stream: StreamPublisher | undefined,
) {
  return (call: ToolActivityInput): Promise<null> =>
    runActivity(async (scope) => {
      failpoint('tool.begins')
      const args = await loadArguments(values, call, scope.signal)
      const summary = redactSummary({ redact }, call.tool, summarizeArguments(call.tool, args))
      const origin = { ...scope, requester: requesterOf(call.context) }
      await streamCall(stream, { ...call, summary, isDeferred: true }, scope, () =>
        auditCall(audit, { ...call, arguments: args }, origin, () => Promise.resolve()),
      )
      return null
    })
}
