/* `TextEncoder` and `TextDecoder`. */
'use strict'

const { isView } = ArrayBuffer
const Bytes = Uint8Array

class TextEncoder {
  get encoding() {
    return 'utf-8'
  }
  encode(text = '') {
    return new Bytes(host.encode(String(text)))
  }
  encodeInto(text, target) {
    let read = 0
    let written = 0
    for (const character of String(text)) {
      const bytes = host.encode(character)
      if (written + bytes.length > target.length) break
      target.set(bytes, written)
      written += bytes.length
      read += character.length
    }
    return { read, written }
  }
}

class TextDecoder {
  #encoding
  #fatal
  #ignoreBOM
  constructor(encoding = 'utf-8', { fatal = false, ignoreBOM = false } = {}) {
    this.#encoding = String(encoding)
    this.#fatal = Boolean(fatal)
    this.#ignoreBOM = Boolean(ignoreBOM)
    if (host.decode(new Bytes(0), this.#encoding, 0, 0) === 0)
      throw new RangeError(`The "${this.#encoding}" encoding is not supported`)
  }
  get encoding() {
    return this.#encoding.toLowerCase().replace(/^utf8$/, 'utf-8')
  }
  get fatal() {
    return this.#fatal
  }
  get ignoreBOM() {
    return this.#ignoreBOM
  }
  decode(input = new Bytes(0), { stream = false } = {}) {
    if (stream) throw new TypeError('TextDecoder decodes no streams here: decode all bytes at once')
    const bytes = isView(input) ? new Bytes(input.buffer, input.byteOffset, input.byteLength) : new Bytes(input)
    const text = host.decode(bytes, this.#encoding, this.#fatal ? 1 : 0, this.#ignoreBOM ? 1 : 0)
    if (typeof text === 'string') return text
    const error = new TypeError(`The encoded data was not valid for encoding ${this.encoding}`)
    error.code = 'ERR_ENCODING_INVALID_ENCODED_DATA'
    throw error
  }
}

function install() {
  globalThis.TextEncoder = TextEncoder
  globalThis.TextDecoder = TextDecoder
}

module.exports = { install }
