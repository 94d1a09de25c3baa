import { PtcError } from '../../../common/errors.js'

/** The payload of one chunk of the attach stream; an empty array for a stream without payload. */
interface DemultiplexedChunk {
  readonly stdout: Uint8Array
  readonly stderr: Uint8Array
}

/** A header has 1 byte for the stream, 3 zero bytes, and 4 bytes for the length (big-endian). */
const headerBytes = 8

/** Daemons write frames of about 32 KB. A much larger length means that the bytes are not an attach stream. */
const defaultMaxFrameBytes = 16 * 1024 * 1024

const emptyBytes = new Uint8Array()

/**
 * Splits Docker's attach stream into stdout and stderr. It is iterative and linear in the number of bytes, and keeps at
 * most a header between chunks. It returns one array per chunk and stream, independent of the number of frames in the
 * chunk, so that a program that writes single bytes costs no more than a program that writes pages.
 */
export class Demultiplexer {
  readonly #maxFrameBytes: number
  readonly #header = Buffer.alloc(headerBytes)
  #headerFilled = 0
  #bodyLeft = 0
  #toStderr = false

  constructor(maxFrameBytes: number = defaultMaxFrameBytes) {
    this.#maxFrameBytes = maxFrameBytes
  }

  /** True when the bytes so far end in the middle of a frame. */
  get isPartial(): boolean {
    return this.#headerFilled > 0 || this.#bodyLeft > 0
  }

  /** @throws PtcError SANDBOX_PROTOCOL; the demultiplexer is unusable afterwards */
  push(chunk: Uint8Array): DemultiplexedChunk {
    const stdout = new Collector(chunk)
    const stderr = new Collector(chunk)
    let at = 0
    while (at < chunk.length) {
      if (this.#bodyLeft > 0) {
        const end = Math.min(chunk.length, at + this.#bodyLeft)
        const collector = this.#toStderr ? stderr : stdout
        collector.add(at, end)
        this.#bodyLeft -= end - at
        at = end
      } else {
        const end = Math.min(chunk.length, at + headerBytes - this.#headerFilled)
        this.#header.set(chunk.subarray(at, end), this.#headerFilled)
        this.#headerFilled += end - at
        at = end
        if (this.#headerFilled === headerBytes) this.#readHeader()
      }
    }
    return { stdout: stdout.take(), stderr: stderr.take() }
  }

  #readHeader(): void {
    const stream = this.#header.readUInt8(0)
    const length = this.#header.readUInt32BE(4)
    // 0 is echoed stdin, 3 is an error of the daemon. Docker's own reader also maps them to stdout and stderr.
    if (stream > 3 || this.#header.readUIntBE(1, 3) !== 0) {
      throw new PtcError('SANDBOX_PROTOCOL', `the attach stream has an invalid header: ${this.#header.toString('hex')}`)
    }
    if (length > this.#maxFrameBytes) {
      const limit = `limit ${this.#maxFrameBytes}`
      throw new PtcError('SANDBOX_PROTOCOL', `the attach stream announced a frame of ${length} bytes (${limit})`)
    }
    this.#headerFilled = 0
    this.#bodyLeft = length
    this.#toStderr = stream >= 2
  }
}

/** Joins ranges of one chunk. A single range is not copied. */
class Collector {
  readonly #chunk: Uint8Array
  #single: Uint8Array = emptyBytes
  #joined: Uint8Array | undefined
  #length = 0

  constructor(chunk: Uint8Array) {
    this.#chunk = chunk
  }

  add(start: number, end: number): void {
    const range = this.#chunk.subarray(start, end)
    if (this.#length === 0) {
      this.#single = range
    } else {
      this.#joined ??= this.#startJoining()
      this.#joined.set(range, this.#length)
    }
    this.#length += range.length
  }

  take(): Uint8Array {
    return this.#joined?.subarray(0, this.#length) ?? this.#single
  }

  #startJoining(): Uint8Array {
    const joined = new Uint8Array(this.#chunk.length)
    joined.set(this.#single)
    return joined
  }
}
