import { PtcError } from '../common/errors.js'

/**
 * This is far more than any crash message. User code has no access to the real stderr, so more output than this is an
 * attack.
 */
const maximumBytes = 8 * 1024 * 1024

/** The last bytes of a sandbox's stderr, for the diagnostics of its end; in constant memory and linear time. */
export class DiagnosticsBuffer {
  readonly #buffer: Buffer
  readonly #capacity: number
  #filledBytes = 0
  #totalBytes = 0

  constructor(capacity: number = 8 * 1024) {
    this.#capacity = capacity
    this.#buffer = Buffer.alloc(capacity * 2)
  }

  /** @throws PtcError SANDBOX_PROTOCOL when the sandbox has written more than 8 MiB */
  push(bytes: Uint8Array): void {
    this.#totalBytes += bytes.length
    const end = bytes.length > this.#capacity ? bytes.subarray(bytes.length - this.#capacity) : bytes
    if (this.#filledBytes + end.length > this.#buffer.length) {
      this.#buffer.copyWithin(0, this.#filledBytes - this.#capacity, this.#filledBytes)
      this.#filledBytes = this.#capacity
    }
    this.#buffer.set(end, this.#filledBytes)
    this.#filledBytes += end.length
    if (this.#totalBytes > maximumBytes) {
      throw new PtcError('SANDBOX_PROTOCOL', `the sandbox wrote more than ${maximumBytes} bytes to stderr`)
    }
  }

  /** Decodes the tail; invalid UTF-8 becomes replacement characters. */
  toString(): string {
    return this.#buffer.toString('utf8', Math.max(0, this.#filledBytes - this.#capacity), this.#filledBytes)
  }
}
