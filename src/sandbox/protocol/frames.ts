import { isUtf8 } from 'node:buffer'
import { PtcError } from '../../common/errors.js'
import type { HostMessage } from './messages.js'

/**
 * A frame is a 4-byte big-endian length and that many bytes of UTF-8: JSON, and after a line break the text of a value.
 * Frames are shorter than 16 MiB and their text has no zero byte. So a frame starts at a zero byte with a brace after
 * the length: a reader that connects in the middle of a frame finds the next frame this way.
 */
const headerBytes = 4
const openingBrace = 0x7b

/** Bytes of a frame from the host. The format allows frames under 16 MiB. The largest one has the source of a cell. */
export const hostFrameBytes = 8 * 1024 * 1024

/**
 * Encodes one frame.
 *
 * @throws PtcError LIMIT_EXCEEDED
 */
export function encodeFrame(message: unknown, frameBytes: number): Uint8Array {
  return encodeStart(JSON.stringify(message), 0, frameBytes)
}

/**
 * Returns the frame of a message of the host, in parts. The text of a value is a part of its own: it follows the JSON
 * as it is, because decoding, escaping or copying it costs more than sending it.
 *
 * @throws PtcError LIMIT_EXCEEDED; VALUE_CORRUPT for a text with a zero byte, which would start a frame, and for bytes
 * that are not UTF-8
 */
export function encodeMessage(message: HostMessage, frameBytes = hostFrameBytes): readonly Uint8Array[] {
  if (message.type !== 'value') return [encodeFrame(message, frameBytes)]
  const { text, ...fields } = message
  const start = encodeStart(`${JSON.stringify(fields)}\n`, text.length, frameBytes)
  const hasZero = text.includes(0)
  if (hasZero || !isUtf8(text)) {
    const problem = hasZero ? 'contains a zero byte' : 'is not UTF-8'
    throw new PtcError('VALUE_CORRUPT', `the text of a stored value ${problem}, so it is not JSON`)
  }
  return [start, text]
}

/** Encodes a frame without the text at its end. */
function encodeStart(json: string, textBytes: number, frameBytes: number): Uint8Array {
  const jsonBytes = Buffer.byteLength(json)
  const bytes = jsonBytes + textBytes
  if (bytes > frameBytes) {
    throw new PtcError('LIMIT_EXCEEDED', `a frame of ${bytes} bytes is over the limit of ${frameBytes}`, {
      hint: 'Return less from the tool.',
    })
  }
  const start = Buffer.allocUnsafe(headerBytes + jsonBytes)
  start.writeUInt32BE(bytes, 0)
  start.write(json, headerBytes)
  return start
}

/**
 * Splits untrusted bytes, in chunks of any size, into the unparsed bodies of complete frames. Iterative and linear in
 * the bytes; rejects a length over the limit before it buffers a byte of the body.
 *
 * @throws PtcError SANDBOX_PROTOCOL from `push`; the decoder is unusable afterwards.
 */
export class FrameDecoder {
  readonly #frameBytes: number
  #pieces: Uint8Array[] = []
  #buffered = 0
  #bodyBytes: number | undefined
  #synchronised: boolean
  /** Possible start of the first complete frame; fewer than five bytes. */
  #candidate: Uint8Array = new Uint8Array()

  /** `resume`: the connection may begin in the middle of a frame. The rest of that frame is skipped. */
  constructor(frameBytes: number, options: { readonly resume: boolean } = { resume: false }) {
    this.#frameBytes = frameBytes
    this.#synchronised = !options.resume
  }

  /** Returns every frame that `chunk` completes. */
  push(chunk: Uint8Array): Buffer[] {
    const useful = this.#synchronised ? chunk : this.#firstFrame(chunk)
    if (useful.length === 0) return []
    this.#pieces.push(useful)
    this.#buffered += useful.length
    const frames: Buffer[] = []
    for (;;) {
      if (this.#bodyBytes === undefined) {
        if (this.#buffered < headerBytes) return frames
        this.#bodyBytes = this.#take(headerBytes).readUInt32BE(0)
        if (this.#bodyBytes > this.#frameBytes) {
          throw new PtcError(
            'SANDBOX_PROTOCOL',
            `the sandbox announced a frame of ${this.#bodyBytes} bytes (limit ${this.#frameBytes})`,
          )
        }
      }
      if (this.#buffered < this.#bodyBytes) return frames
      frames.push(this.#take(this.#bodyBytes))
      this.#bodyBytes = undefined
    }
  }

  /** True when the stream ends in the middle of a frame. */
  get hasPartialFrame(): boolean {
    return this.#buffered > 0 || this.#bodyBytes !== undefined
  }

  /** Returns the bytes from the first frame on; empty while there is none. The connection may begin inside a header. */
  #firstFrame(chunk: Uint8Array): Uint8Array {
    const bytes = this.#candidate.length > 0 ? Buffer.concat([this.#candidate, chunk]) : chunk
    this.#candidate = new Uint8Array()
    for (let start = bytes.indexOf(0); start >= 0; start = bytes.indexOf(0, start + 1)) {
      if (bytes.length <= start + headerBytes) {
        this.#candidate = bytes.slice(start)
        break
      }
      if (bytes[start + headerBytes] === openingBrace) {
        this.#synchronised = true
        return bytes.subarray(start)
      }
    }
    return new Uint8Array()
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

/**
 * Parses the JSON of a frame. The sender determines how long this takes, so `countStructuralBytes` must come first.
 *
 * @throws PtcError SANDBOX_PROTOCOL
 */
export function parseFrame(body: Uint8Array): unknown {
  try {
    return JSON.parse(utf8.decode(body))
  } catch (cause) {
    throw new PtcError('SANDBOX_PROTOCOL', 'the sandbox sent a frame that is not JSON', { cause })
  }
}
