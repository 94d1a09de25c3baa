import type { Payload } from '@temporalio/common'
import type { JsonValue } from '../common/json/json.js'
import { externalValue } from '../common/json/external-value.js'
import { parseRef } from '../client/run-tree/values/external-values.js'
import { storageReference } from '../client/run-tree/history/storage-reference.js'
import type { EncryptionCodec } from '../values/encryption/payload-codec.js'
import { decodePayload as decodeStored, isOwnDriver } from '../values/payload-storage.js'
import type { Values } from '../values/values.js'

export interface DecodeOptions {
  readonly values: Values
  /** Undefined: payloads are not encrypted. */
  readonly codec: EncryptionCodec | undefined
  /** Bytes that a decoded payload may have; a larger value keeps its reference, which has a preview. */
  readonly maxBytes: number
  readonly signal: AbortSignal
}

/**
 * A payload as a person reads it: loaded from the value store, decrypted, with the values that its JSON refers to.
 * Returned unchanged when it is none of these, and when the store does not have it, or the key is not known.
 */
export async function decodePayload(payload: Payload, options: DecodeOptions): Promise<Payload> {
  try {
    return await expandReferences(await decrypt(await loadStored(payload, options), options), options)
  } catch {
    options.signal.throwIfAborted()
    return payload
  }
}

async function loadStored(payload: Payload, { values, maxBytes, signal }: DecodeOptions): Promise<Payload> {
  const reference = storageReference(payload)
  if (!reference || !isOwnDriver(reference.driverName)) return payload
  const { sha256 = '', bytes = '', preview = '' } = reference.claimData
  if (Number(bytes) > maxBytes) return jsonPayload({ preview, bytes: Number(bytes), sha256 })
  return decodeStored(values.valueStore, { sha256, bytes: Number(bytes) }, signal)
}

async function decrypt(payload: Payload, { codec }: DecodeOptions): Promise<Payload> {
  const [decrypted = payload] = (await codec?.decode([payload])) ?? []
  return decrypted
}

/** Replaces values by reference inside of JSON, as long as all together fit. */
async function expandReferences(payload: Payload, { values, maxBytes, signal }: DecodeOptions): Promise<Payload> {
  const text = Buffer.from(payload.data ?? []).toString()
  if (encodingOf(payload) !== 'json/plain' || !text.includes('"ptc.value"')) return payload
  let left = maxBytes - text.length
  const expand = async (value: JsonValue): Promise<JsonValue> => {
    const ref = parseRef(value)
    if (ref !== undefined) {
      if (ref.bytes > left) return value
      left -= ref.bytes
      return values.load(externalValue(ref), 'a payload', signal).catch(() => value)
    }
    if (Array.isArray(value)) return mapInOrder(value, expand)
    if (typeof value !== 'object' || value === null) return value
    const members = await mapInOrder(Object.entries(value), async ([name, member]) => [name, await expand(member)])
    return Object.fromEntries(members) as JsonValue
  }
  return jsonPayload(await expand(JSON.parse(text) as JsonValue), payload)
}

/** One after the other, so that the first values of a payload are those that fit. */
async function mapInOrder<Item, Result>(
  items: readonly Item[],
  map: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  for (const item of items) results.push(await map(item))
  return results
}

function jsonPayload(value: JsonValue, { metadata }: Payload = {}): Payload {
  return { metadata: { ...metadata, encoding: Buffer.from('json/plain') }, data: Buffer.from(JSON.stringify(value)) }
}

function encodingOf({ metadata }: Payload): string {
  return Buffer.from(metadata?.['encoding'] ?? []).toString()
}
