/** LRU cache of the bytes of small values. Values never change, so entries are never stale. */
export class ValueCache {
  readonly #values = new Map<string, Uint8Array>()
  readonly #capacity: number
  #bytes = 0

  /** @param capacity bytes; 0 disables the cache */
  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** Returns false for a value so large that it would displace many others. */
  fits(bytes: number): boolean {
    return bytes <= this.#capacity / 32
  }

  /** @param bytes the size in the reference; a reference with another size does not refer to this value */
  get(sha256: string, bytes: number): Uint8Array | undefined {
    const value = this.#values.get(sha256)
    if (value?.byteLength !== bytes) return undefined
    // A Map keeps insertion order: the first entry is the least recently used one.
    this.#values.delete(sha256)
    this.#values.set(sha256, value)
    return value
  }

  add(sha256: string, value: Uint8Array): void {
    if (!this.fits(value.byteLength) || this.#values.has(sha256)) return
    this.#values.set(sha256, value)
    this.#bytes += value.byteLength
    for (const [oldest, { byteLength }] of this.#values) {
      if (this.#bytes <= this.#capacity) return
      this.#values.delete(oldest)
      this.#bytes -= byteLength
    }
  }
}
