/**
 * A content-addressed store of bytes. Class `Values` uses it, and adds previews, JSON and limits.
 *
 * Invariants of every store:
 * 1. `put` is atomic: a crash leaves either the whole value or nothing that can be read.
 * 2. `put` of an existing value renews `usedAt`.
 * 3. `read` withholds the last piece until the digest matches the key.
 * 4. `remove` spares a value that was put after `unusedSince`.
 */
export interface ValueStore {
  /** Kind and location, on one line, without credentials. */
  readonly description: string
  /**
   * Stores bytes, and returns their key. Reads `content` once, in pieces, and never has all of it in memory.
   *
   * @throws PtcError VALUE_STORE_UNAVAILABLE, VALUE_STORE_FULL, VALUE_STORE_REFUSED; the signal's reason; errors of
   * `content`
   */
  put(content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, signal: AbortSignal): Promise<StoredContent>
  /**
   * Yields the verified bytes of a value, in pieces.
   *
   * @throws PtcError VALUE_MISSING, VALUE_CORRUPT (wrong content or size), VALUE_STORE_UNAVAILABLE
   */
  read(content: StoredContent, signal: AbortSignal): AsyncIterable<Uint8Array>
  /**
   * Returns undefined if the store has no value with this key. Here and below, the key is the key of the object in the
   * store.
   */
  stat(sha256: string, signal: AbortSignal): Promise<ValueStat | undefined>
  list(signal: AbortSignal): AsyncIterable<ValueStat>
  /**
   * Removes a value. Removing a missing value is not an error.
   *
   * @param unusedSince keeps a value that was put after this time (milliseconds since 1970)
   * @returns whether a value was removed
   */
  remove(sha256: string, signal: AbortSignal, unusedSince?: number): Promise<boolean>
  /**
   * Stores a small object under a name, unless an object with this name exists, and returns the stored bytes:
   * concurrent writers all get the bytes of the first one. The object is not a value: {@link list} leaves it out.
   *
   * @param name letters, digits, dots, hyphens and underscores; not the key of a value
   * @throws PtcError of {@link put}
   */
  putIfAbsent(name: string, content: Uint8Array, signal: AbortSignal): Promise<Uint8Array>
  /** Closes the store. Idempotent. */
  close(): Promise<void>
}

export interface StoredContent {
  /** 64 hex digits. */
  readonly sha256: string
  readonly bytes: number
  /** Key and size of the encrypted content in the store. Undefined: the store has the content itself. */
  readonly stored?: StoredBytes
}

/** Key and size of an object in a store. */
interface StoredBytes {
  readonly sha256: string
  readonly bytes: number
}

export interface ValueStat extends StoredBytes {
  /** Time of the last put, in milliseconds since 1970. */
  readonly usedAt: number
}
