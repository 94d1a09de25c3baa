import { ContentHasher, verifyContent } from '../content.js'
import type { StoredContent, ValueStat, ValueStore } from '../store.js'
import type { KeyRing } from './key-ring.js'
import { decryptValue, encryptValue } from './value-cipher.js'

/**
 * A store that encrypts values at rest. The stored content has another key and size than the value (`stored` of the
 * returned content): equal values have different stored contents, and the store contains no digest of a value. `list`,
 * `stat` and `remove` use the key in the store.
 */
export class EncryptedStore implements ValueStore {
  readonly description: string
  readonly #store: ValueStore
  readonly #keys: KeyRing

  /** @param store the inner store, which is closed with this one */
  constructor(store: ValueStore, keys: KeyRing) {
    this.#store = store
    this.#keys = keys
    this.description = `${store.description} (encrypted)`
  }

  /** @throws PtcError of the inner store; ENCRYPTION_KEY_UNAVAILABLE, CONFIG_INVALID */
  async put(content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, signal: AbortSignal): Promise<StoredContent> {
    const key = await this.#keys.current()
    const hasher = new ContentHasher()
    const stored = await this.#store.put(encryptValue(hashed(content, hasher), key), signal)
    return { ...hasher.finish(), stored }
  }

  /**
   * Also reads values that are not encrypted, and values by their key in the store.
   *
   * @throws PtcError of the inner store; ENCRYPTION_KEY_UNAVAILABLE, DECRYPTION_FAILED, CONFIG_INVALID
   */
  read({ stored, ...content }: StoredContent, signal: AbortSignal): AsyncIterable<Uint8Array> {
    const pieces = decryptValue(this.#store.read(stored ?? content, signal), this.#keys)
    return stored === undefined ? pieces : verifyContent(pieces, content)
  }

  stat(sha256: string, signal: AbortSignal): Promise<ValueStat | undefined> {
    return this.#store.stat(sha256, signal)
  }

  list(signal: AbortSignal): AsyncIterable<ValueStat> {
    return this.#store.list(signal)
  }

  remove(sha256: string, signal: AbortSignal, unusedSince?: number): Promise<boolean> {
    return this.#store.remove(sha256, signal, unusedSince)
  }

  /** Stores the object without encryption. */
  putIfAbsent(name: string, content: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
    return this.#store.putIfAbsent(name, content, signal)
  }

  close(): Promise<void> {
    return this.#store.close()
  }
}

async function* hashed(
  content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  hasher: ContentHasher,
): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const piece of content) {
    hasher.add(piece)
    yield piece
  }
}
