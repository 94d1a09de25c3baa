import { type Payload, RawValue } from '@temporalio/common'
import { workflowInfo } from '@temporalio/workflow'
import type { RemoteCall } from '../../../common/calls/calls.js'
import { defined } from '../../../common/defined.js'
import { type FloatMask, floatMaskOf, stringifyFloats } from '../../../common/json/floats.js'
import type { JsonObject, JsonValue } from '../../../common/json/json.js'
import type { RunCall } from '../run-call.js'

/**
 * Returns an input that encodes floats with a fraction (`1.0`). JavaScript has one type of number, and would write `1`.
 */
export function withFloats(value: JsonObject, floats: FloatMask | undefined): unknown {
  if (floats === undefined) return value
  const data = new TextEncoder().encode(stringifyFloats(value, floats))
  return RawValue.fromPayload({ metadata: { encoding: new TextEncoder().encode('json/plain') }, data })
}

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

type RemoteResult =
  | { readonly status: 'read'; readonly value: JsonValue; readonly bytes: number; readonly floats?: FloatMask }
  | { readonly status: 'unreadable'; readonly reason: string }

/** Encodings with JSON data. Python and Go return a protobuf message as `json/protobuf`. */
const jsonEncodings = new Set(['json/plain', 'json/protobuf'])

/**
 * Reads the payload that a remote tool returned. Never throws: the other worker may have another data converter.
 *
 * @param payload undefined: an activity without a result
 */
export function readRemoteResult(payload: Payload | undefined): RemoteResult {
  const encoding = decodeUtf8(payload?.metadata?.['encoding'])
  if (payload === undefined || encoding === 'binary/null') return { status: 'read', value: null, bytes: 4 }
  if (!jsonEncodings.has(encoding)) {
    return {
      status: 'unreadable',
      reason: `its result has the encoding ${JSON.stringify(encoding)}, which is not JSON`,
    }
  }
  try {
    const text = decodeUtf8(payload.data)
    const value = JSON.parse(text) as JsonValue
    const floats = floatMaskOf(text)
    return { status: 'read', value, bytes: payload.data?.length ?? 0, ...defined({ floats }) }
  } catch {
    return { status: 'unreadable', reason: 'its result is not JSON' }
  }
}

function decodeUtf8(bytes: Uint8Array | null | undefined): string {
  return new TextDecoder().decode(bytes ?? new Uint8Array())
}
