import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { canonicalJson } from './canonical-json.js'
import type { CallPosition } from './calls.js'
import type { JsonObject, JsonValue } from './json.js'

/** SHA-256 of canonical JSON, first 128 bits as 32 hex digits. */
export function digestOf(value: JsonValue): string {
  return bytesToHex(sha256(utf8ToBytes(canonicalJson(value)))).slice(0, 32)
}

/** What a rebuilt program must repeat at a call: the tool and its arguments. */
export function callDigest(tool: string, args: JsonObject): string {
  return digestOf([tool, args])
}

export interface RunIdentity {
  readonly namespace: string
  readonly workflowId: string
  /** The first run of the chain: the same after reset and continue-as-new. */
  readonly firstExecutionRunId: string
}

/** The one identity of a call, for ever: also the idempotency key its tool is given. */
export function callKey(run: RunIdentity, position: CallPosition, digest: string): string {
  const { namespace, workflowId, firstExecutionRunId } = run
  const { turn, cell, index } = position
  return digestOf([namespace, workflowId, firstExecutionRunId, turn, cell, index, digest])
}
