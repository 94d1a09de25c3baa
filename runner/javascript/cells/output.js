/*
 * Captures the output of user code and its children.
 *
 * The output is one text in the order of printing, with the parts that were printed to stderr (`WrittenParts`).
 *
 * One file without a name behind descriptors 1 and 2 keeps the order of prints, raw writes and children; a pipe would
 * need a thread that drains it.
 */
'use strict'
const fs = require('node:fs')
const { StringDecoder } = require('node:string_decoder')
const { STDERR, STDOUT, WrittenParts } = require('./written-parts.js')
const { BoundedText } = require('./bounded-text.js')

const { closeSync, ftruncateSync, openSync, readSync, unlinkSync } = fs
const CHUNK_BYTES = 1 << 20
const STREAM_MS = 250 // between two output messages of a cell
const STREAM_CHARACTERS = 4_000
const MAXIMUM_PARTS = 10_000 // between two drains
const realNow = performance.now.bind(performance)

class OutputCapture {
  constructor(channel) {
    this.channel = channel
    this.step = 0
    this.text = new BoundedText()
    this.decoder = new StringDecoder('utf8')
    this.unread = 0
    this.beginCell()
    this.file = redirect()
    this.offset = 0 // of the file, up to which it is drained
    this.written = new WrittenParts(this.file)
    this.#watch(process.stdout, STDOUT)
    this.#watch(process.stderr, STDERR)
  }

  setLimit(characters) {
    this.text.capacity = characters
  }

  beginCell() {
    this.lastSent = realNow() // so a short cell sends no output message before its result
    this.text.beginCell()
  }

  /** Returns the members of a result with the output since the last take, and the note of the runner as stderr. */
  take(note) {
    this.#drain()
    return this.text.take(note)
  }

  /** Drains the file when it is large, and sends output at intervals. */
  #watch(stream, number) {
    const { write } = stream
    stream.write = (...values) => {
      this.written.mark()
      const result = Reflect.apply(write, stream, values)
      this.written.mark(number)
      this.unread += values[0]?.length ?? 0
      const now = realNow()
      const isFull = this.unread >= CHUNK_BYTES || this.written.parts.length >= MAXIMUM_PARTS
      if (isFull || now - this.lastSent >= STREAM_MS) {
        const text = this.#drain()
        if (text !== '' && now - this.lastSent >= STREAM_MS) {
          this.lastSent = now
          this.channel.send({ type: 'output', step: this.step, text: text.slice(-STREAM_CHARACTERS).toWellFormed() })
        }
      }
      return result
    }
  }

  /** Moves the output from the file to the bounded text. Returns the end of the output. */
  #drain() {
    this.unread = 0
    let last = ''
    // Checked again: a child may print meanwhile.
    for (let parts; (parts = this.#undrained()).length > 0;) {
      const chunk = new Uint8Array(Math.min(CHUNK_BYTES, parts.at(-1).end - this.offset))
      for (const { stream, end } of parts) {
        while (this.offset < end) {
          const count = readSync(this.file, chunk, 0, Math.min(chunk.length, end - this.offset), this.offset)
          const text = this.decoder.write(chunk.subarray(0, count))
          this.text.add(text, stream === STDERR)
          last = (last + text).slice(-STREAM_CHARACTERS)
          this.offset = count === 0 ? end : this.offset + count // 0: truncated meanwhile
        }
      }
    }
    this.written.parts = []
    // Not each time, because the positions of the descriptors stay.
    if (this.offset >= CHUNK_BYTES) {
      ftruncateSync(this.file, 0)
      this.offset = 0
      this.written.begin()
    }
    return last
  }

  #undrained() {
    const parts = this.written.after(this.offset)
    if (this.written.size >= this.offset) return parts
    this.offset = 0 // truncated by the program
    return this.written.after(0)
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
