/*
 * Randomness that a rebuild repeats: `Math.random`, `crypto` and `fs.mkdtemp` read the session's stream.
 *
 * The bytes are unpredictable only without the name of the session: a reader of the history of its run can compute them.
 * Keys that OpenSSL makes by itself (`generateKeyPair`, `subtle.generateKey`) are real.
 */
'use strict'
const crypto = require('node:crypto')
const fs = require('node:fs')
const { RandomStream, uuidOf } = require('../determinism/random-stream.js')
// Code may declare these names.
const { ArrayBuffer, Math, Number, Object, RangeError, Uint8Array, setImmediate: realImmediate } = globalThis

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

module.exports = { install }
