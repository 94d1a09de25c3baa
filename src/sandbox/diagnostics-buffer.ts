import { PtcError } from '../common/errors.js'
import { TailBuffer } from './tail-buffer.js'

const tailBytes = 8 * 1024

/**
 * This is far more than any crash message. User code has no access to the real stderr, so more output than this is an
 * attack.
 */
const maximumBytes = 8 * 1024 * 1024

/** The tail of a sandbox's stderr, for the diagnostics of its end. */
export class DiagnosticsBuffer {
  readonly #tail = new TailBuffer(tailBytes)

  /** @throws PtcError SANDBOX_PROTOCOL when the sandbox has written more than 8 MiB */
  push(bytes: Uint8Array): void {
    this.#tail.push(bytes)
    if (this.#tail.totalBytes > maximumBytes) {
      throw new PtcError('SANDBOX_PROTOCOL', `the sandbox wrote more than ${maximumBytes} bytes to stderr`)
    }
  }

  toString(): string {
    return this.#tail.toString()
  }
}
