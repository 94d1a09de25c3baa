/** Where values are kept by their content. Everything above it (previews, JSON, limits) is the same for all stores. */
export interface ValueStore {
  /** For people: kind and place, one line, no credentials. */
  readonly description: string
  /**
   * Keeps bytes and gives their key. Reads `content` once, in pieces; never holds it whole. What is there already is not written
   * twice, and counts as used now. A crash in the middle leaves nothing that could be read.
   *
   * @throws PtcError VALUE_STORE_UNAVAILABLE, VALUE_STORE_FULL, VALUE_STORE_REFUSED; the signal's reason; what `content` throws
   */
  put(content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, signal: AbortSignal): Promise<StoredContent>
  /**
   * The bytes of a key, in pieces, checked: the last piece is given only when all of them are what the key says.
   *
   * @throws PtcError VALUE_MISSING, VALUE_CORRUPT (other bytes, or another number of them), VALUE_STORE_UNAVAILABLE
   */
  read(content: StoredContent, signal: AbortSignal): AsyncIterable<Uint8Array>
  /** Undefined when there is none of this key. */
  stat(sha256: string, signal: AbortSignal): Promise<ValueStat | undefined>
  list(signal: AbortSignal): AsyncIterable<ValueStat>
  /**
   * Fine when there is none.
   *
   * @param unusedSince keep it when it was put again after this moment (milliseconds since the epoch)
   * @returns whether there was one, and it is gone now
   */
  remove(sha256: string, signal: AbortSignal, unusedSince?: number): Promise<boolean>
  /** Idempotent. */
  close(): Promise<void>
}

export interface StoredContent {
  /** 64 hex digits. */
  readonly sha256: string
  readonly bytes: number
}

export interface ValueStat extends StoredContent {
  /** When it was last put, in milliseconds since the epoch. */
  readonly usedAt: number
}
