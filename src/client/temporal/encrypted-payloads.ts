import { type Client, WorkflowClient } from '@temporalio/client'
import { defaultPayloadConverter, type Payload, type PayloadCodec } from '@temporalio/common'
import { messageOf, PtcError } from '../../common/errors.js'
import { encryptionKeyId } from '../../values/encryption/payload-codec.js'

const keysHint =
  '`ptc` has the keys of a configuration that is named: --config ptc.config.ts. A client of your own gets them by ' +
  'createDataConverter(store, { encryption }).'

/** Returns the error for a payload that no codec of this client has decrypted. */
export function notDecrypted(keyId?: string): PtcError {
  const key = keyId === undefined ? '' : ` with the key ${JSON.stringify(keyId)}`
  return new PtcError('ENCRYPTION_KEY_UNAVAILABLE', `the run is encrypted${key}, and this client has no keys`, {
    hint: keysHint,
  })
}

/** Returns true for an error about encryption. Callers must not treat it like a payload without content. */
export function isEncryptionError(thrown: unknown): boolean {
  if (PtcError.isInstance(thrown)) return encryptionCodes.has(thrown.code)
  // The SDK throws this when a payload is still encrypted after the codecs.
  return messageOf(thrown).includes('Unknown encoding: binary/encrypted')
}

const encryptionCodes: ReadonlySet<string> = new Set(['ENCRYPTION_KEY_UNAVAILABLE', 'DECRYPTION_FAILED'])

/**
 * Returns a client for descriptions and lists of runs. Without the key, the memo of a run is null, so that a person
 * without keys can find a run and cancel it.
 */
export function describingClient(client: Client): WorkflowClient {
  const { connection } = client
  const { namespace, loadedDataConverter } = client.options
  const codecs = loadedDataConverter.payloadCodecs
  const lenient: PayloadCodec = {
    encode: (payloads) => Promise.resolve(payloads),
    decode: (payloads) => Promise.all(payloads.map((payload) => decodeLeniently(payload, codecs))),
  }
  return new WorkflowClient({
    connection,
    namespace,
    dataConverter: { ...loadedDataConverter, payloadCodecs: [lenient] },
  })
}

async function decodeLeniently(payload: Payload, codecs: readonly PayloadCodec[]): Promise<Payload> {
  try {
    const decoded = await decodeWith(codecs, payload)
    return encryptionKeyId(decoded) === undefined ? decoded : unreadable
  } catch {
    return unreadable
  }
}

const unreadable = defaultPayloadConverter.toPayload(null)

/** Returns a payload after all codecs, the last one first. */
export async function decodeWith(codecs: readonly PayloadCodec[], payload: Payload): Promise<Payload> {
  let decoded = payload
  for (const codec of codecs.toReversed()) {
    const [next] = await codec.decode([decoded])
    if (next) decoded = next
  }
  return decoded
}

/**
 * Collects the payloads at any depth of a message. It runs for each event, so it skips numbers, times and durations,
 * which most fields are.
 */
export function collectPayloads(message: object, found: Payload[]): void {
  for (const field of Object.values(message) as unknown[]) {
    if (typeof field !== 'object' || field === null || 'low' in field || 'seconds' in field) continue
    if (field instanceof Uint8Array) continue
    if ('metadata' in field && 'data' in field) found.push(field as Payload)
    else collectPayloads(field, found)
  }
}
