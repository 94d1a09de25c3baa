/*
 * Captures the output of user code and its children. Keeps the head and the tail, and counts the rest.
 *
 * One file without a name behind descriptors 1 and 2 keeps the order of prints, raw writes and children; a pipe would
 * need a thread that drains it.
 */
'use strict'
const fs = require('node:fs')
const { StringDecoder } = require('node:string_decoder')

const { closeSync, fstatSync, ftruncateSync, openSync, readSync, unlinkSync } = fs
const CHUNK_BYTES = 1 << 20
const STREAM_MS = 250 // between two output messages of a cell
const STREAM_CHARACTERS = 4_000
const MINIMUM_STEP_CHARACTERS = 1_000 // that every step may print, even after much output of its cell
const RESERVED_CHARACTERS = 200 // for the omission marker and for hints: the host cuts at the limit, and would cut them
const realNow = performance.now.bind(performance)

class OutputCapture {
  constructor(channel) {
    this.channel = channel
    this.step = 0
    this.capacity = 20_000
    this.decoder = new StringDecoder('utf8')
    this.unread = 0
    this.#clear()
    this.beginCell()
    this.file = redirect()
    for (const stream of [process.stdout, process.stderr]) this.#watch(stream)
  }

  setLimit(characters) {
    this.capacity = characters
  }

  beginCell() {
    this.lastSent = realNow() // so a short cell sends no output message before its result
    this.remaining = this.capacity
  }

  /** Returns the output since the last take, and the note of the runner. */
  take(note = '') {
    this.#drain()
    const cut = this.dropped > 0 ? `\n[... ${this.dropped} characters cut ...]\n` : ''
    const text = this.head + cut + this.tail
    this.#clear()
    this.remaining -= text.length
    const separator = note !== '' && text !== '' && !text.endsWith('\n') ? '\n' : ''
    return text + separator + note
  }

  /** Drains the file when it is large, and sends output at intervals. */
  #watch(stream) {
    const { write } = stream
    stream.write = (...values) => {
      const result = Reflect.apply(write, stream, values)
      this.unread += values[0]?.length ?? 0
      const now = realNow()
      if (this.unread >= CHUNK_BYTES || now - this.lastSent >= STREAM_MS) {
        const text = this.#drain()
        if (text !== '' && now - this.lastSent >= STREAM_MS) {
          this.lastSent = now
          this.channel.send({ type: 'output', step: this.step, text: text.slice(-STREAM_CHARACTERS).toWellFormed() })
        }
      }
      return result
    }
  }

  #clear() {
    this.head = this.tail = ''
    this.dropped = 0
  }

  /** Moves the output from the file to the bounded text. Returns the end of the output. */
  #drain() {
    this.unread = 0
    let text = ''
    const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, fstatSync(this.file).size))
    // Checked again: a child may print meanwhile.
    for (let offset = 0; fstatSync(this.file).size > offset && chunk.length > 0;) {
      const count = readSync(this.file, chunk, 0, chunk.length, offset)
      if (count === 0) break
      text = this.decoder.write(chunk.subarray(0, count))
      this.#add(text)
      offset += count
    }
    ftruncateSync(this.file, 0)
    return text
  }

  #add(text) {
    const free = Math.max(this.remaining, Math.min(MINIMUM_STEP_CHARACTERS, this.capacity))
    const limit = Math.max(free - RESERVED_CHARACTERS, Math.floor(free / 2))
    const headLimit = Math.floor(limit / 2)
    if (this.tail === '' && this.head.length < headLimit) {
      const rest = headLimit - this.head.length
      this.head += text.slice(0, rest)
      text = text.slice(rest)
    }
    this.tail += text
    const excess = this.tail.length - (limit - headLimit)
    if (excess > 0) {
      this.dropped += excess
      this.tail = this.tail.slice(excess)
    }
  }
}

/** Puts descriptors 0, 1 and 2 on the null device and the file. Returns a descriptor that reads the file. */
function redirect() {
  const path = `${fs.existsSync('/dev/shm') ? '/dev/shm' : '/tmp'}/output-${process.pid}`
  const file = openSync(path, fs.constants.O_RDWR | fs.constants.O_CREAT | fs.constants.O_EXCL, 0o600)
  // The lowest free number is used.
  const replace = (descriptor, open) => {
    closeSync(descriptor)
    if (open() !== descriptor) throw new Error(`descriptor ${descriptor} is in use`)
  }
  replace(0, () => openSync('/dev/null', 'r'))
  for (const descriptor of [1, 2]) replace(descriptor, () => openSync(path, 'a'))
  unlinkSync(path)
  return file
}

module.exports = { OutputCapture }
