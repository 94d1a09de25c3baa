/** The last bytes of a stream, in constant memory and linear time. */
export class Tail {
  readonly #buffer: Buffer
  readonly #keep: number
  #filled = 0
  #total = 0

  constructor(keepBytes: number) {
    this.#keep = keepBytes
    this.#buffer = Buffer.alloc(keepBytes * 2)
  }

  /** Bytes seen so far. */
  get total(): number {
    return this.#total
  }

  push(bytes: Uint8Array): void {
    this.#total += bytes.length
    const end = bytes.length > this.#keep ? bytes.subarray(bytes.length - this.#keep) : bytes
    if (this.#filled + end.length > this.#buffer.length) {
      this.#buffer.copyWithin(0, this.#filled - this.#keep, this.#filled)
      this.#filled = this.#keep
    }
    this.#buffer.set(end, this.#filled)
    this.#filled += end.length
  }

  /** As text; bytes that are no UTF-8 become replacement characters. */
  toString(): string {
    return this.#buffer.toString('utf8', Math.max(0, this.#filled - this.#keep), this.#filled)
  }
}
