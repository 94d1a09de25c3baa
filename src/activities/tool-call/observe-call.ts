import { callDigest } from '../../common/calls/call-identity.js'
import type { CallIdentity, ToolCallInput } from '../../common/calls/calls.js'
import { type CallStatus, toCallStatus } from '../../common/calls/outcomes.js'
import { PtcError } from '../../common/errors.js'
import { toolUseCaller } from '../../common/agent/hosted-code.js'
import type { DescribedCall } from '../../common/session/steps.js'
import { metrics } from '../../common/telemetry/metrics.js'
import { toolSpan, withSpan } from '../../common/telemetry/tracing.js'
import { takeStart } from '../../common/text/text.js'
import { type EventOrigin, type EventSinks, Observer } from '../observe.js'

/** Returns the fields of a call in its events. */
export function callFields({ tool, caller, position, idempotencyKey }: CallIdentity) {
  const { turn, cell, index } = position
  return { call: idempotencyKey, tool, caller, ...toolUseCaller(position), turn, cell, index }
}

interface ObservedCall extends ToolCallInput {
  /** A redacted description of the call, on one line. */
  readonly summary: string
  /** True when the result arrives later, from outside. */
  readonly isDeferred: boolean
}

/** Makes a tool call, and publishes its start, the milestones of the tool, and its end. */
export function observeCall<Result>(
  sinks: EventSinks,
  { summary, isDeferred, ...call }: ObservedCall,
  origin: EventOrigin,
  run: (milestone: (line: string) => void) => Promise<Result>,
): Promise<Result> {
  const fields = callFields(call)
  const digest = () => ({ digest: callDigest(call.tool, call.arguments) })
  return new Observer(sinks, origin, { unit: `call/${call.idempotencyKey}` }).observe(
    {
      started: { type: 'call.started', ...fields, stream: () => ({ summary }), audit: digest },
      completed: (result) => [
        { type: isDeferred || PtcError.isInstance(result) ? 'call.deferred' : 'call.completed', ...fields },
      ],
      failed: (thrown) => ({ type: 'call.failed', ...fields, status: statusOf(thrown, origin.signal) }),
    },
    (publish) => run((text) => publish({ type: 'milestone.reached', ...fields, text })),
  )
}

/** Number of calls in progress. */
let running = 0

/** Measures and traces the execution of a tool of this worker. */
export function measureCall<Result>(
  { tool, idempotencyKey, position }: CallIdentity,
  { attempt, signal }: Pick<EventOrigin, 'attempt' | 'signal'>,
  run: () => Promise<Result>,
): Promise<Result> {
  const attributes = {
    'gen_ai.tool.type': 'function',
    'gen_ai.tool.call.id': idempotencyKey,
    'ptc.turn': position.turn,
    'ptc.cell': position.cell,
    'ptc.call': position.index,
    'ptc.attempt': attempt,
  }
  return withSpan(toolSpan(tool, attributes), async () => {
    const startedAt = performance.now()
    let status: CallStatus = 'ok'
    metrics.set('ptc_tool_calls_running', ++running, {})
    try {
      return await run()
    } catch (thrown) {
      status = statusOf(thrown, signal)
      throw thrown
    } finally {
      metrics.set('ptc_tool_calls_running', --running, {})
      metrics.add('ptc_tool_calls_total', 1, { tool, status })
      metrics.observe('ptc_tool_call_latency_milliseconds', performance.now() - startedAt, { tool })
    }
  })
}

/** Runs a compensation, and publishes its start and its end. */
export async function observeCompensation(
  sinks: EventSinks,
  call: CallIdentity,
  origin: EventOrigin,
  run: () => Promise<void>,
): Promise<void> {
  const fields = callFields(call)
  const count = (status: string) => metrics.add('ptc_compensations_total', 1, { tool: call.tool, status })
  await new Observer(sinks, origin, { unit: `compensation/${call.idempotencyKey}` }).observe(
    {
      started: { type: 'compensation.started', ...fields },
      completed: () => (count('ok'), [{ type: 'compensation.completed', ...fields }]),
      failed: (thrown) => {
        count('failed')
        return { type: 'compensation.failed', ...fields, status: statusOf(thrown, origin.signal) }
      },
    },
    run,
  )
}

/** Publishes the calls that were refused. A refused call never starts. */
export async function publishRefusals(
  sinks: EventSinks,
  calls: readonly DescribedCall[],
  origin: EventOrigin,
  unit: string,
): Promise<void> {
  for (const { tool, index, digest, refused } of calls) {
    if (!refused) continue
    // The model or its code chooses the name, so its length is limited.
    const fields = { tool: takeStart(tool, 100), index, digest, status: refused.status }
    await new Observer(sinks, origin, { unit: `${unit}/${index}` }).publish({ type: 'call.refused', ...fields })
  }
}

function statusOf(thrown: unknown, signal: AbortSignal): Exclude<CallStatus, 'ok'> {
  return signal.aborted ? 'cancelled' : toCallStatus(PtcError.isInstance(thrown) ? thrown.code : '')
}
