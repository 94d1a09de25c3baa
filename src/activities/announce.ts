import type { AuditCallInput, ToolActivityInput } from '../common/calls/call-activities.js'
import { defined } from '../common/defined.js'
import { failpoint } from '../common/failpoint.js'
import type { BudgetPause } from '../common/budget/budget.js'
import { requesterOf } from '../common/run/requester.js'
import { summarizeCall } from '../tools/calls/summary.js'
import { type EventSinks, Observer } from './observe.js'
import { type ActivityParts, runActivity } from './run-activity.js'
import { callFields, observeCall } from './tool-call/observe-call.js'
import { loadArguments } from './tool-call/prepare-arguments.js'

/** Activity `run.pause`: publishes that the budget of a run is spent. */
export function announcePause(sinks: EventSinks) {
  return ({ item, amount, since }: BudgetPause): Promise<void> =>
    runActivity((scope) => {
      const event = { type: 'budget.spent', item, ...defined({ amount }) } as const
      return new Observer(sinks, scope, { unit: `pause/${since}` }).publish(event)
    })
}

/**
 * Activity `tool.client`: adds a call of a client tool to the history, the live stream and the audit log. The client
 * reads the call from the history, and answers it.
 *
 * @throws PtcError AUDIT_UNAVAILABLE, and errors of the value store
 */
export function announceClientCall(parts: ActivityParts & EventSinks) {
  return (call: ToolActivityInput): Promise<null> =>
    runActivity(async (scope) => {
      failpoint('tool.begins')
      const args = await loadArguments(parts.values, call, scope.signal)
      const summary = summarizeCall(parts.registry, { ...call, arguments: args })
      const observed = { ...call, arguments: args, summary, isDeferred: true }
      const origin = { ...scope, requester: requesterOf(call.context) }
      return observeCall(parts, observed, origin, () => Promise.resolve(null))
    })
}

/**
 * Activity `audit.call`: stores the start or the end of a call that a worker of another application executes, or the
 * decision on a deferred call.
 *
 * @throws PtcError AUDIT_UNAVAILABLE for a start and for a decision
 */
export function auditCallEvent({ audit }: EventSinks) {
  return ({ context, event, ...call }: AuditCallInput): Promise<void> =>
    runActivity(async (scope) => {
      // The event is about all attempts of the call.
      const origin = { ...scope, attempt: 1, requester: requesterOf(context) }
      const decision = event.type === 'call.decided' ? `/${event.digest}` : ''
      const observer = new Observer({ audit }, origin, { unit: `call/${call.idempotencyKey}${decision}` })
      if (event.type !== 'call.started') return observer.publish({ ...callFields(call), ...event })
      const { type, digest } = event
      return observer.publish({ type, ...callFields(call), stream: () => ({ summary: '' }), audit: () => ({ digest }) })
    })
}
