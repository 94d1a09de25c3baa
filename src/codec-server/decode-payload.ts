import type { Payload } from '@temporalio/common'
import type { JsonValue } from '../common/json/json.js'
import { countStructuralBytes } from '../common/json/structural-bytes.js'
import { externalValue, externalValueKey, type ValueRef } from '../common/json/external-value.js'
import { z } from 'zod'
import { byteCount, digest, parseRef } from '../client/run-tree/values/external-values.js'
import { storageReference } from '../client/temporal/storage-reference.js'
import type { EncryptionCodec } from '../values/encryption/payload-codec.js'
import { decodePayload, isOwnDriver } from '../values/payload-storage.js'
import type { Values } from '../values/values.js'

export interface DecodeOptions {
  readonly values: Values
  /** Undefined: payloads are not encrypted. */
  readonly codec: EncryptionCodec | undefined
  /** Maximum bytes of a decoded payload. A larger value keeps its reference, which has a preview. */
  readonly maxBytes: number
  /** The bytes that all payloads of the request together may still load. */
  readonly allowance: Allowance
  readonly signal: AbortSignal
}

/**
 * What one request may cost (invariant 2): the author of the payloads chose their JSON and their references. `bytes`
 * and `values` are loaded from the value store.
 */
interface Allowance {
  bytes: number
  values: number
  /** Bytes outside of strings, of the JSON that is searched for references. */
  searchedBytes: number
}

const maxDepth = 1_000

/**
 * A payload in a form that a person can read (invariant 1): loaded from the value store, decrypted, and with the values
 * that its JSON refers to. Returned unchanged when no step applies, when the store does not have the value, or when the
 * key is unknown.
 */
export async function readablePayload(payload: Payload, options: DecodeOptions): Promise<Payload> {
  try {
    return await expandReferences(await decrypt(await loadStored(payload, options), options), options)
  } catch {
    options.signal.throwIfAborted()
    return payload
  }
}

const stored = z.object({ sha256: digest, bytes: z.coerce.number().pipe(byteCount), preview: z.string().optional() })

async function loadStored(payload: Payload, { values, maxBytes, allowance, signal }: DecodeOptions): Promise<Payload> {
  const reference = storageReference(payload)
  if (!reference || !isOwnDriver(reference.driverName)) return payload
  const { sha256, bytes, preview = '' } = stored.parse(reference.claimData)
  if (bytes > maxBytes || !take(allowance, bytes)) return jsonPayload({ preview, bytes, sha256 })
  return decodePayload(values.valueStore, { sha256, bytes }, signal)
}

async function decrypt(payload: Payload, { codec }: DecodeOptions): Promise<Payload> {
  const [decrypted = payload] = (await codec?.decode([payload])) ?? []
  return decrypted
}

/**
 * Replaces references inside of JSON with their values, while all values together fit. Does not search a loaded value
 * for more references: the engine writes none into it.
 */
async function expandReferences(payload: Payload, options: DecodeOptions): Promise<Payload> {
  const { values, maxBytes, allowance, signal } = options
  const bytes = Buffer.from(payload.data ?? [])
  const text = bytes.toString()
  const hasReference = text.length <= maxBytes && text.includes(`"${externalValueKey}"`)
  if (!hasReference || encodingOf(payload) !== 'json/plain' || !takeSearch(allowance, bytes)) return payload
  const root = { value: JSON.parse(text) as JsonValue }
  let left = maxBytes - text.length
  for (const { holder, key, ref } of referencesIn(root)) {
    if (ref.bytes > left || !take(allowance, ref.bytes)) continue
    left -= ref.bytes
    const load = values.load(externalValue(ref), 'a payload', signal)
    holder[key] = await load.catch(() => externalValue(ref))
  }
  return jsonPayload(root.value, payload)
}

interface FoundReference {
  readonly holder: Record<PropertyKey, JsonValue>
  readonly key: PropertyKey
  readonly ref: ValueRef
}

/** References in the order of the text, so that the first values of a payload are loaded first. */
function referencesIn(root: object): FoundReference[] {
  const found: FoundReference[] = []
  const search = (holder: Record<PropertyKey, JsonValue>): void => {
    for (const [key, member] of Object.entries(holder)) {
      if (typeof member !== 'object' || member === null) continue
      const ref = parseRef(member)
      if (ref === undefined) search(member as Record<PropertyKey, JsonValue>)
      else found.push({ holder, key, ref })
    }
  }
  search(root as Record<PropertyKey, JsonValue>)
  return found
}

function take(allowance: Allowance, bytes: number): boolean {
  if (allowance.values < 1 || allowance.bytes < bytes) return false
  allowance.values -= 1
  allowance.bytes -= bytes
  return true
}

function takeSearch(allowance: Allowance, json: Uint8Array): boolean {
  const { bytes, problem } = countStructuralBytes(json, { bytes: allowance.searchedBytes, depth: maxDepth })
  if (problem !== undefined) return false
  allowance.searchedBytes -= bytes
  return true
}

function jsonPayload(value: JsonValue, { metadata }: Payload = {}): Payload {
  return { metadata: { ...metadata, encoding: Buffer.from('json/plain') }, data: Buffer.from(JSON.stringify(value)) }
}

function encodingOf({ metadata }: Payload): string {
  return Buffer.from(metadata?.['encoding'] ?? []).toString()
}
