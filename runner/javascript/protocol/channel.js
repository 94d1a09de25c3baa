/*
 * Frames between runner and host, over a port: two private descriptors, or the pipes of an embedded sandbox.
 *
 * A frame is a 4-byte big-endian length, then that much JSON. The text of a value follows its JSON after a line break. A
 * frame is shorter than 16 MiB and its text has no zero byte, so a frame always begins with a zero byte and has no other
 * that could begin one: after a connection that broke in the middle of a frame, the next zero byte is the next frame.
 *
 * 1. A frame is written whole, or the process ends.
 * 2. Reading blocks the whole thread: while the runner waits for the host, no code of the program runs.
 * 3. Code that changes `Buffer` or `Uint8Array` changes no frame: bytes are arrays of the runner's own context.
 */
'use strict'
const { TextDecoder, TextEncoder } = require('node:util')

const OPENING_BRACE = 0x7b
const { parse, stringify } = JSON
const MAXIMUM_BYTES_PER_UNIT = 3 // of UTF-8 for a unit of UTF-16
const encoder = new TextEncoder()
const encodeInto = encoder.encodeInto.bind(encoder)
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
const decode = decoder.decode.bind(decoder)

class Channel {
  /**
   * @param port `read(chunk)` blocks and returns the number of bytes, 0 at the end; `write(bytes)` writes all of them;
   *   `end()` ends the process
   */
  constructor(port) {
    this.port = port
    this.frameLimit = 1 << 24
    this.buffer = new Uint8Array(0)
    this.chunk = new Uint8Array(1 << 16)
  }

  /** Returns the number of bytes of the frame. Throws RangeError for a frame over the limit. */
  send(message) {
    const text = stringify(message)
    const frame = new Uint8Array(4 + MAXIMUM_BYTES_PER_UNIT * text.length)
    const { written: length } = encodeInto(text, frame.subarray(4))
    if (length >= this.frameLimit)
      throw new RangeError(`a frame of ${length} bytes is over the limit of ${this.frameLimit}`)
    new DataView(frame.buffer).setUint32(0, length)
    this.port.write(frame.subarray(0, 4 + length))
    return length
  }

  /** Blocks until a frame has arrived. Ends the process when the host has closed the connection. */
  receive() {
    for (;;) {
      const frame = this.#nextFrame()
      const message = frame && parseFrame(frame)
      if (message) return message
      if (frame) continue
      const count = this.port.read(this.chunk)
      if (count === 0) this.port.end()
      const before = this.buffer
      this.buffer = new Uint8Array(before.length + count)
      this.buffer.set(before)
      this.buffer.set(this.chunk.subarray(0, count), before.length)
    }
  }

  #nextFrame() {
    for (;;) {
      const start = this.buffer.indexOf(0)
      // The rest of a frame of a dead sender, or noise: skip to a possible start of a frame.
      if (start !== 0) this.buffer = start < 0 ? this.buffer.subarray(this.buffer.length) : this.buffer.subarray(start)
      if (this.buffer.length < 5) return undefined
      if (this.buffer[4] !== OPENING_BRACE) {
        this.buffer = this.buffer.subarray(1) // a zero byte, but not the first byte of a length
        continue
      }
      const end = 4 + new DataView(this.buffer.buffer, this.buffer.byteOffset).getUint32(0)
      const cut = this.buffer.subarray(0, end).indexOf(0, 4)
      if (cut >= 0) {
        this.buffer = this.buffer.subarray(cut) // a new frame begins inside this one: the sender of this one died
        continue
      }
      if (this.buffer.length < end) return undefined
      const frame = this.buffer.subarray(4, end)
      this.buffer = this.buffer.subarray(end)
      return frame
    }
  }
}

/** Returns undefined for a frame that is mixed from two: two hosts may send at once, until one of them is refused. */
function parseFrame(frame) {
  const lineBreak = frame.indexOf(10)
  try {
    const message = parse(decode(frame.subarray(0, lineBreak < 0 ? frame.length : lineBreak)))
    return lineBreak < 0 ? message : { ...message, text: decode(frame.subarray(lineBreak + 1)) }
  } catch {
    return undefined
  }
}

module.exports = { Channel }
