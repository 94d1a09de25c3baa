/*
 * Frames between runner and host, over a port: two private descriptors, or the pipes of an embedded sandbox.
 *
 * A frame is a 4-byte big-endian length, then that much JSON. The text of a value follows its JSON after a line break. A
 * frame is shorter than 16 MiB and its text has no zero byte, so a frame always begins with a zero byte and has no other
 * that could begin one: after a connection that broke in the middle of a frame, the next zero byte is the next frame.
 *
 * 1. A frame is written whole, or the process ends.
 * 2. Reading blocks the whole thread: while the runner waits for the host, no code of the program runs.
 */
'use strict'
const OPENING_BRACE = 0x7b
const { parse, stringify } = JSON

class Channel {
  /**
   * @param port `read(chunk)` blocks and returns the number of bytes, 0 at the end; `write(bytes)` writes all of them;
   *   `end()` ends the process
   */
  constructor(port) {
    this.port = port
    this.frameLimit = 1 << 24
    this.buffer = Buffer.alloc(0)
    this.chunk = Buffer.alloc(1 << 16)
  }

  /** Returns the number of bytes of the frame. Throws RangeError for a frame over the limit. */
  send(message) {
    const body = Buffer.from(stringify(message))
    if (body.length >= this.frameLimit)
      throw new RangeError(`a frame of ${body.length} bytes is over the limit of ${this.frameLimit}`)
    const frame = Buffer.allocUnsafe(4 + body.length)
    frame.writeUInt32BE(body.length)
    body.copy(frame, 4)
    this.port.write(frame)
    return body.length
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
      this.buffer = Buffer.concat([this.buffer, this.chunk.subarray(0, count)])
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
      const end = 4 + this.buffer.readUInt32BE(0)
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
    const message = parse(frame.toString('utf8', 0, lineBreak < 0 ? frame.length : lineBreak))
    return lineBreak < 0 ? message : { ...message, text: frame.toString('utf8', lineBreak + 1) }
  } catch {
    return undefined
  }
}

module.exports = { Channel }
