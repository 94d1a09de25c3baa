import { PtcError } from '../../common/errors.js'

/** What one chunk of the attach stream held; empty arrays of bytes when nothing. */
export interface Demultiplexed {
  readonly stdout: Uint8Array
  readonly stderr: Uint8Array
}

/** 1 byte stream, 3 bytes zero, 4 bytes big-endian length. */
const headerBytes = 8

/** Daemons write some 32 KB at once; a length far beyond means that this is not the stream we take it for. */
const defaultMaxFrameBytes = 16 * 1024 * 1024

const nothing = new Uint8Array()

/**
 * Splits Docker's attach stream into its two parts. Iterative, linear in the bytes, keeps at most a header between
 * chunks, and gives one piece per chunk and stream however many frames the chunk held: a program that writes single
 * bytes costs no more than one that writes pages.
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

  /** True in the middle of a frame. */
  get partial(): boolean {
    return this.#headerFilled > 0 || this.#bodyLeft > 0
  }

  /** @throws PtcError SANDBOX_PROTOCOL; the demultiplexer is useless afterwards */
  push(chunk: Uint8Array): Demultiplexed {
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
    // 0 is stdin echoed, 3 the daemon's own errors: Docker's reader takes them for stdout and stderr too.
    if (stream > 3 || this.#header.readUIntBE(1, 3) !== 0) {
      throw new PtcError('SANDBOX_PROTOCOL', `the attach stream is out of step: header ${this.#header.toString('hex')}`)
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

/** Joins ranges of one chunk; copies only from the second range on. */
class Collector {
  readonly #chunk: Uint8Array
  #whole: Uint8Array = nothing
  #joined: Uint8Array | undefined
  #length = 0

  constructor(chunk: Uint8Array) {
    this.#chunk = chunk
  }

  add(start: number, end: number): void {
    const range = this.#chunk.subarray(start, end)
    if (this.#length === 0) {
      this.#whole = range
    } else {
      this.#joined ??= this.#startJoining()
      this.#joined.set(range, this.#length)
    }
    this.#length += range.length
  }

  take(): Uint8Array {
    return this.#joined?.subarray(0, this.#length) ?? this.#whole
  }

  #startJoining(): Uint8Array {
    const joined = new Uint8Array(this.#chunk.length)
    joined.set(this.#whole)
    return joined
  }
}
