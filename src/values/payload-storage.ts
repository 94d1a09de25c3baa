import { ExternalStorage, type Payload, type StorageDriver, StorageDriverClaim } from '@temporalio/common'
import proto from '@temporalio/proto'
import { PtcError } from '../common/errors.js'
import { previewCharacters } from '../common/json/external-value.js'
import { EncryptedStore } from './encryption/encrypted-store.js'
import type { EncryptionCodec } from './encryption/payload-codec.js'
import { retryWhileUnavailable } from './retry.js'
import type { StoredContent, ValueStore } from './store.js'

const { Payload: PayloadMessage } = proto.temporal.api.common.v1
const thresholdBytes = 256 * 1024
/** Part of every stored reference, so it must not change. */
const driverName = 'ptc.values'

type OpenStore = () => ValueStore | Promise<ValueStore>

/** This symbol is the same in all copies of the package. */
const openStoreKey: unique symbol = Symbol.for('durable-ptc.openStore')

interface OwnDriver extends StorageDriver {
  readonly [openStoreKey]: OpenStore
}

export interface PayloadStorageOptions {
  /** Returns the store. Called for each operation. */
  readonly open: OpenStore
  /** Milliseconds to retry while the store is full or unavailable. Default 30 seconds. */
  readonly retryForMs?: number | undefined
  /**
   * The codec of the same data converter. The store itself encrypts: a payload is stored without the encryption of the
   * codec, so that references in it can be found, and is encrypted once.
   */
  readonly codec?: EncryptionCodec | undefined
  /** Converts a PtcError, as in {@link EncryptionCodec}. */
  readonly toError?: ((thrown: unknown) => unknown) | undefined
}

/**
 * The value store as Temporal's external storage: it also stores any other large payload (a question, a configuration),
 * which then stays under the server's limit of 2 MiB. Clients and workers both need it.
 */
export function payloadStorage({
  open,
  retryForMs = 30_000,
  codec,
  toError = (thrown) => thrown,
}: PayloadStorageOptions): ExternalStorage {
  const inStore = async <Result>(
    signal: AbortSignal,
    work: (store: ValueStore) => Promise<Result>,
  ): Promise<Result> => {
    try {
      return await retryWhileUnavailable(retryForMs, signal, async () => work(await open()))
    } catch (thrown) {
      throw PtcError.isInstance(thrown) ? toError(thrown) : thrown
    }
  }
  const driver: OwnDriver = {
    [openStoreKey]: open,
    name: driverName,
    type: 'durable-ptc.values',
    store: async ({ abortSignal = neverAborted }, payloads) => {
      const content = codec === undefined ? payloads : await codec.decode(payloads)
      return Promise.all(
        content.map((payload) => inStore(abortSignal, (store) => storePayload(store, payload, abortSignal))),
      )
    },
    retrieve: ({ abortSignal = neverAborted }, claims) =>
      Promise.all(claims.map((claim) => inStore(abortSignal, (store) => retrievePayload(store, claim, abortSignal)))),
  }
  return new ExternalStorage({ drivers: [driver], payloadSizeThreshold: thresholdBytes })
}

/**
 * Adds the value store to the external storage of a user. The user's storage still decides where a payload is stored;
 * payloads that are in the value store can be read.
 */
export function addPayloadStorage(
  existing: ExternalStorage | undefined,
  options: PayloadStorageOptions,
): ExternalStorage {
  const ours = payloadStorage(options)
  if (existing === undefined) return ours
  if (existing.getDriver(driverName)) return existing
  const { drivers, driverSelector, payloadSizeThreshold } = existing
  return new ExternalStorage({ drivers: [...drivers, ...ours.drivers], driverSelector, payloadSizeThreshold })
}

/** Returns durable-ptc's store in a data converter; undefined when there is none. */
export async function storeOf(storage: ExternalStorage | undefined): Promise<ValueStore | undefined> {
  const driver: Partial<OwnDriver> | null | undefined = storage?.getDriver(driverName)
  return driver?.[openStoreKey]?.()
}

const neverAborted = new AbortController().signal

async function storePayload(store: ValueStore, payload: Payload, signal: AbortSignal): Promise<StorageDriverClaim> {
  const content = await store.put([PayloadMessage.encode(payload).finish()], signal)
  // The claim is in the history and is not encrypted, so it must not have the digest of the value.
  const { sha256, bytes } = content.stored ?? content
  const preview = store instanceof EncryptedStore ? '' : previewOf(payload)
  return new StorageDriverClaim({ sha256, bytes: String(bytes), preview })
}

function retrievePayload(store: ValueStore, { claimData }: StorageDriverClaim, signal: AbortSignal): Promise<Payload> {
  return decodePayload(store, { sha256: claimData['sha256'] ?? '', bytes: Number(claimData['bytes']) }, signal)
}

/** Returns true for a reference to a payload in the value store. */
export function isOwnDriver(name: string): boolean {
  return name === driverName
}

/** Reads a payload from the value store. */
export async function decodePayload(store: ValueStore, content: StoredContent, signal: AbortSignal): Promise<Payload> {
  const pieces: Uint8Array[] = []
  for await (const piece of store.read(content, signal)) pieces.push(piece)
  return PayloadMessage.decode(Buffer.concat(pieces))
}

/** Returns the preview for the Temporal UI; empty for an encrypted payload. */
function previewOf({ metadata, data }: Payload): string {
  const encoding = Buffer.from(metadata?.['encoding'] ?? []).toString()
  if (encoding !== 'json/plain' || !data) return ''
  const start = new TextDecoder().decode(data.subarray(0, 4 * previewCharacters))
  return Array.from(start).slice(0, previewCharacters).join('')
}
