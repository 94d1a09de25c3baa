import type { Payload } from '@temporalio/common'
import { defined } from '../../../common/defined.js'
import { type FloatMask, floatMaskOf } from '../../../common/json/floats.js'
import type { JsonValue } from '../../../common/json/json.js'

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
