/** The last bytes of a stream, in constant memory and linear time. */
export class TailBuffer {
  readonly #buffer: Buffer
  readonly #capacity: number
  #filledBytes = 0
  #totalBytes = 0

  constructor(capacity: number) {
    this.#capacity = capacity
    this.#buffer = Buffer.alloc(capacity * 2)
  }

  /** Number of bytes pushed so far. */
  get totalBytes(): number {
    return this.#totalBytes
  }

  push(bytes: Uint8Array): void {
    this.#totalBytes += bytes.length
    const end = bytes.length > this.#capacity ? bytes.subarray(bytes.length - this.#capacity) : bytes
    if (this.#filledBytes + end.length > this.#buffer.length) {
      this.#buffer.copyWithin(0, this.#filledBytes - this.#capacity, this.#filledBytes)
      this.#filledBytes = this.#capacity
    }
    this.#buffer.set(end, this.#filledBytes)
    this.#filledBytes += end.length
  }

  /** Decodes the tail; invalid UTF-8 becomes replacement characters. */
  toString(): string {
    return this.#buffer.toString('utf8', Math.max(0, this.#filledBytes - this.#capacity), this.#filledBytes)
  }
}
