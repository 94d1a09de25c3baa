/* The random bytes of a session, which a rebuild repeats. */
'use strict'
const { createHash } = require('node:crypto')
// Code may declare this name.
const { Buffer } = globalThis
const BLOCK = 32

/** SHA-256 over a counter. Each read begins with a new block. */
class RandomStream {
  constructor(key) {
    this.key = key
    this.position = 0
  }

  read(size) {
    const data = Buffer.alloc(size)
    for (let offset = 0; offset < size; offset += BLOCK) {
      createHash('sha256').update(`${this.key} ${this.position}`).digest().copy(data, offset)
      this.position += 1
    }
    return data
  }

  /** Returns a number from 0 up to 1, with 53 random bits. */
  random() {
    const data = this.read(8)
    return (data.readUInt32BE(0) * 2 ** 21 + (data.readUInt32BE(4) >>> 11)) / 2 ** 53
  }
}

function uuidOf(bytes) {
  bytes[6] = (bytes[6] & 0x0f) | 0x40
  bytes[8] = (bytes[8] & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

module.exports = { RandomStream, uuidOf }
