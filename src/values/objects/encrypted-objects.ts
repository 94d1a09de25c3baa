import type { KeyRing } from '../encryption/key-ring.js'
import { decryptValue, encryptValue, maxEncryptedBytes } from '../encryption/value-cipher.js'
import type { ObjectStore } from './object-store.js'

/**
 * Encrypts the content of objects, in the format of encrypted values. Objects from before the encryption can be read.
 * Names are not encrypted: they are digests of scopes, numbers and random ids.
 */
export class EncryptedObjects implements ObjectStore {
  readonly description: string
  readonly #store: ObjectStore
  readonly #keys: KeyRing

  /** @param store the inner store, which is closed with this one */
  constructor(store: ObjectStore, keys: KeyRing) {
    this.#store = store
    this.#keys = keys
    this.description = `${store.description} (encrypted)`
  }

  /** @throws PtcError of the inner store; ENCRYPTION_KEY_UNAVAILABLE, DECRYPTION_FAILED, CONFIG_INVALID */
  async read(name: string, maxBytes: number, signal: AbortSignal): Promise<Uint8Array | undefined> {
    const stored = await this.#store.read(name, maxEncryptedBytes(maxBytes), signal)
    return stored && joined(decryptValue([stored], this.#keys))
  }

  /** @throws PtcError of the inner store; ENCRYPTION_KEY_UNAVAILABLE, CONFIG_INVALID */
  async create(name: string, content: Uint8Array, signal: AbortSignal): Promise<boolean> {
    const key = await this.#keys.current()
    return this.#store.create(name, await joined(encryptValue([content], key)), signal)
  }

  list(folder: string, signal: AbortSignal): Promise<readonly string[]> {
    return this.#store.list(folder, signal)
  }

  folders(signal: AbortSignal): AsyncIterable<string> {
    return this.#store.folders(signal)
  }

  remove(names: readonly string[], signal: AbortSignal): Promise<void> {
    return this.#store.remove(names, signal)
  }

  removeUnfinished(folder: string, olderThanMs: number, signal: AbortSignal): Promise<void> {
    return this.#store.removeUnfinished(folder, olderThanMs, signal)
  }

  close(): Promise<void> {
    return this.#store.close()
  }
}

async function joined(pieces: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all: Uint8Array[] = []
  for await (const piece of pieces) all.push(piece)
  return Buffer.concat(all)
}
