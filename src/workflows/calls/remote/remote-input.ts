import { RawValue } from '@temporalio/common'
import { workflowInfo } from '@temporalio/workflow'
import type { RemoteCall } from '../../../common/calls/calls.js'
import { defined } from '../../../common/defined.js'
import { type FloatMask, stringifyFloats } from '../../../common/json/floats.js'
import type { JsonObject } from '../../../common/json/json.js'
import type { RunCall } from '../run-call.js'

/**
 * Returns an input that encodes floats with a fraction (`1.0`). JavaScript has one type of number, and would write `1`.
 */
export function withFloats(value: JsonObject, floats: FloatMask | undefined): unknown {
  if (floats === undefined) return value
  const data = new TextEncoder().encode(stringifyFloats(value, floats))
  return RawValue.fromPayload({ metadata: { encoding: new TextEncoder().encode('json/plain') }, data })
}

/** Returns the description of the call that a remote tool gets. */
export function remoteCallOf({ run, input: { tool, caller, idempotencyKey } }: RunCall): RemoteCall {
  const { agentName: agent, context } = run.config
  const { namespace, workflowId } = run.identity
  const callingRun = { namespace, workflowId, runId: workflowInfo().runId, ...defined({ agent }) }
  return { idempotencyKey, tool, caller, run: callingRun, ...defined({ context }) }
}

/**
 * Returns the input of a remote tool: only the arguments, so that a function with one parameter accepts them in each
 * SDK. A tool that asks for the description of the call gets it as well.
 */
export function inputOf(call: RunCall, { passCall }: { readonly passCall?: true }, args: JsonObject): unknown[] {
  const encoded = withFloats(args, call.described.floats)
  return passCall ? [encoded, { ...remoteCallOf(call) }] : [encoded]
}
