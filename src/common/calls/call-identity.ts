import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import { canonicalJson } from '../json/canonical-json.js'
import type { CallPosition } from './calls.js'
import type { JsonObject, JsonValue } from '../json/json.js'

/** SHA-256 of canonical JSON, first 128 bits as 32 hex digits. */
export function digestJson(value: JsonValue): string {
  return bytesToHex(sha256(utf8ToBytes(canonicalJson(value)))).slice(0, 32)
}

/** Digest of a call's tool and arguments. A rebuilt program must repeat it. */
export function callDigest(tool: string, args: JsonObject): string {
  return digestJson([tool, args])
}

export interface RunIdentity {
  readonly namespace: string
  readonly workflowId: string
  /**
   * Run id of the first execution of the continue-as-new chain: the same after a reset and after continue-as-new. For a
   * session in a workflow of a user: the run id of the execution before a reset, and the number of the session.
   */
  readonly firstExecutionRunId: string
  /**
   * For a sub-agent: the idempotency key of its call. It replaces the run id in the keys of the sub-agent's own calls,
   * because a reset of the parent starts the sub-agent again.
   */
  readonly callKey?: string
}

/** Returns the part of the keys of calls that distinguishes executions of one workflow id. */
export function executionOfCalls({ callKey, firstExecutionRunId }: RunIdentity): string {
  return callKey ?? firstExecutionRunId
}

/**
 * The idempotency key of a call: stable over retries, rebuilds, reset and continue-as-new. It never changes between
 * versions either, so that tools recognize earlier keys.
 */
export function deriveIdempotencyKey(run: RunIdentity, position: CallPosition, digest: string): string {
  const { namespace, workflowId } = run
  const { turn, cell, index } = position
  return digestJson([namespace, workflowId, executionOfCalls(run), turn, cell, index, digest])
}

/**
 * Signature of a call: HMAC-SHA256 with a secret of its run, first 128 bits as 32 hex digits. The token of one call
 * does not reveal the token of another.
 */
export function signCall(secret: string, idempotencyKey: string): string {
  return bytesToHex(hmac(sha256, utf8ToBytes(secret), utf8ToBytes(idempotencyKey))).slice(0, 32)
}
