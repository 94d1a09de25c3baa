/** The bytes of values used last, as many as fit; values never change, so there is nothing to keep in step. */
export class RecentValues {
  readonly #values = new Map<string, Uint8Array>()
  readonly #capacity: number
  #bytes = 0

  /** @param capacity in bytes; 0 keeps nothing */
  constructor(capacity: number) {
    this.#capacity = capacity
  }

  /** So that a single one can't push all others out. */
  fits(bytes: number): boolean {
    return bytes <= this.#capacity / 32
  }

  get(sha256: string): Uint8Array | undefined {
    const value = this.#values.get(sha256)
    if (value === undefined) return undefined
    // A Map remembers the order of insertion: the first is the one used longest ago.
    this.#values.delete(sha256)
    this.#values.set(sha256, value)
    return value
  }

  add(sha256: string, value: Uint8Array): void {
    if (!this.fits(value.byteLength) || this.get(sha256) !== undefined) return
    this.#values.set(sha256, value)
    this.#bytes += value.byteLength
    for (const [oldest, { byteLength }] of this.#values) {
      if (this.#bytes <= this.#capacity) return
      this.#values.delete(oldest)
      this.#bytes -= byteLength
    }
  }
}
