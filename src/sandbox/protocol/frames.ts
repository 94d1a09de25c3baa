import { PtcError } from '../../common/errors.js'

/** A frame is a 4-byte big-endian length and that many bytes of UTF-8 JSON. */
const headerBytes = 4

/** One frame, ready for the wire. */
export function encodeFrame(message: unknown, frameBytes: number): Uint8Array {
  const body = Buffer.from(JSON.stringify(message), 'utf8')
  if (body.length > frameBytes) {
    throw new PtcError('LIMIT_EXCEEDED', `a frame of ${body.length} bytes is over the limit of ${frameBytes}`, {
      hint: 'Return less from the tool, or raise limits.frameBytes.',
    })
  }
  const frame = Buffer.allocUnsafe(headerBytes + body.length)
  frame.writeUInt32BE(body.length, 0)
  body.copy(frame, headerBytes)
  return frame
}

/**
 * Takes hostile bytes in pieces of any size and gives whole frames as parsed JSON. Iterative, linear in the bytes, and a
 * length over the cap is refused before a byte of it is kept.
 *
 * @throws PtcError SANDBOX_PROTOCOL from `push`; the decoder is useless afterwards.
 */
export class FrameDecoder {
  readonly #frameBytes: number
  #pieces: Uint8Array[] = []
  #buffered = 0
  #bodyBytes: number | undefined

  constructor(frameBytes: number) {
    this.#frameBytes = frameBytes
  }

  /** Every frame that is complete once `chunk` has arrived. */
  push(chunk: Uint8Array): unknown[] {
    this.#pieces.push(chunk)
    this.#buffered += chunk.length
    const frames: unknown[] = []
    for (;;) {
      if (this.#bodyBytes === undefined) {
        if (this.#buffered < headerBytes) return frames
        this.#bodyBytes = this.#take(headerBytes).readUInt32BE(0)
        if (this.#bodyBytes > this.#frameBytes) {
          throw new PtcError('SANDBOX_PROTOCOL', `the sandbox announced a frame of ${this.#bodyBytes} bytes (limit ${this.#frameBytes})`)
        }
      }
      if (this.#buffered < this.#bodyBytes) return frames
      frames.push(parse(this.#take(this.#bodyBytes)))
      this.#bodyBytes = undefined
    }
  }

  /** True in the middle of a frame: the stream must not end here. */
  get partial(): boolean {
    return this.#buffered > 0 || this.#bodyBytes !== undefined
  }

  #take(count: number): Buffer {
    const all = this.#pieces.length === 1 ? this.#pieces[0] : Buffer.concat(this.#pieces)
    const whole = all ?? new Uint8Array()
    const rest = whole.subarray(count)
    this.#pieces = rest.length > 0 ? [rest] : []
    this.#buffered = rest.length
    return Buffer.from(whole.buffer, whole.byteOffset, count)
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(utf8.decode(body))
  } catch (cause) {
    throw new PtcError('SANDBOX_PROTOCOL', 'the sandbox sent a frame that is not JSON', { cause })
  }
}
