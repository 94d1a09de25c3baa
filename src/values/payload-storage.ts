import { ExternalStorage, type Payload, type StorageDriver, StorageDriverClaim } from '@temporalio/common'
import proto from '@temporalio/proto'
import { previewCharacters } from '../common/values.js'
import { withPatience } from './patience.js'
import type { StoredContent, ValueStore } from './store.js'

const { Payload: PayloadMessage } = proto.temporal.api.common.v1
const thresholdBytes = 256 * 1024
/** In every reference: old histories are read with it. */
const driverName = 'ptc.values'

/**
 * The same store for Temporal itself: whatever else gets big (a question, a plan) is kept there too, so nothing meets the
 * server's 2 MiB wall. Clients and workers need it both: `dataConverter: { externalStorage: payloadStorage(store) }`.
 *
 * @param patienceMs how long a store that is full or does not answer is tried again
 */
export function payloadStorage(store: ValueStore, patienceMs = 30_000): ExternalStorage {
  const driver: StorageDriver = {
    name: driverName,
    type: 'durable-ptc.values',
    store: ({ abortSignal = never }, payloads) =>
      Promise.all(
        payloads.map((payload) => withPatience(patienceMs, abortSignal, () => put(store, payload, abortSignal))),
      ),
    retrieve: ({ abortSignal = never }, claims) =>
      Promise.all(claims.map((claim) => withPatience(patienceMs, abortSignal, () => get(store, claim, abortSignal)))),
  }
  return new ExternalStorage({ drivers: [driver], payloadSizeThreshold: thresholdBytes })
}

const never = new AbortController().signal

async function put(store: ValueStore, payload: Payload, signal: AbortSignal): Promise<StorageDriverClaim> {
  const { sha256, bytes } = await store.put([PayloadMessage.encode(payload).finish()], signal)
  return new StorageDriverClaim({ sha256, bytes: String(bytes), preview: previewOf(payload) })
}

async function get(store: ValueStore, { claimData }: StorageDriverClaim, signal: AbortSignal): Promise<Payload> {
  const content: StoredContent = { sha256: claimData['sha256'] ?? '', bytes: Number(claimData['bytes']) }
  const pieces: Uint8Array[] = []
  for await (const piece of store.read(content, signal)) pieces.push(piece)
  return PayloadMessage.decode(Buffer.concat(pieces))
}

/** For people: the Temporal UI shows it. Not of what a codec has sealed. */
function previewOf({ metadata, data }: Payload): string {
  const encoding = Buffer.from(metadata?.['encoding'] ?? []).toString()
  if (encoding !== 'json/plain' || !data) return ''
  const start = new TextDecoder().decode(data.subarray(0, 4 * previewCharacters))
  return Array.from(start).slice(0, previewCharacters).join('')
}
