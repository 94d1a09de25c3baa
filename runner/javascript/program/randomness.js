/*
 * Randomness that a rebuild repeats: `Math.random`, `crypto` and `fs.mkdtemp` read the session's stream.
 *
 * The bytes are unpredictable only without the name of the session: a reader of the history of its run can compute them.
 * Keys that OpenSSL makes by itself (`generateKeyPair`, `subtle.generateKey`) are real.
 */
'use strict'
const crypto = require('node:crypto')
const fs = require('node:fs')

const { createHash } = crypto
// Code may declare these names.
const { ArrayBuffer, Buffer, Math, Number, Object, RangeError, Uint8Array, setImmediate: realImmediate } = globalThis
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

function install(key) {
  const stream = new RandomStream(key)
  const later = (callback, value) => void realImmediate(callback, null, value)
  Math.random = () => stream.random()
  const fill = (view, offset = 0, size = view.byteLength - offset) => {
    const target = ArrayBuffer.isView(view)
      ? new Uint8Array(view.buffer, view.byteOffset + offset, size)
      : new Uint8Array(view, offset, size)
    target.set(stream.read(size))
    return view
  }
  crypto.randomBytes = crypto.pseudoRandomBytes = (size, callback) => {
    const bytes = stream.read(size)
    return callback === undefined ? bytes : later(callback, bytes)
  }
  crypto.randomFillSync = fill
  crypto.randomFill = (view, ...rest) => {
    const callback = rest.pop()
    later(callback, fill(view, ...rest))
  }
  crypto.randomInt = (minimum, maximum, callback) => {
    if (maximum === undefined || typeof maximum === 'function') return crypto.randomInt(0, minimum, maximum)
    if (!Number.isSafeInteger(minimum) || !Number.isSafeInteger(maximum) || maximum <= minimum)
      throw new RangeError('The value of "max" is out of range.')
    const value = minimum + Math.floor(stream.random() * (maximum - minimum))
    return callback === undefined ? value : later(callback, value)
  }
  crypto.randomUUID = () => uuidOf(stream.read(16))
  const prototype = Object.getPrototypeOf(globalThis.crypto)
  const methods = { randomUUID: crypto.randomUUID, getRandomValues: (view) => fill(view) }
  for (const [name, value] of Object.entries(methods))
    Object.defineProperty(prototype, name, { value, writable: true, configurable: true, enumerable: true })
  installMkdtemp(stream)
}

function installMkdtemp(stream) {
  const pathWith = (prefix) => `${prefix}${stream.read(3).toString('hex')}`
  fs.mkdtempSync = (prefix) => {
    const path = pathWith(prefix)
    fs.mkdirSync(path, 0o700)
    return path
  }
  fs.mkdtemp = (prefix, ...rest) => {
    const path = pathWith(prefix)
    fs.mkdir(path, 0o700, (error) => rest.pop()(error, path))
  }
  fs.promises.mkdtemp = async (prefix) => {
    const path = pathWith(prefix)
    await fs.promises.mkdir(path, 0o700)
    return path
  }
}

function uuidOf(bytes) {
  bytes[6] = (bytes[6] & 0x0f) | 0x40
  bytes[8] = (bytes[8] & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

module.exports = { install }
