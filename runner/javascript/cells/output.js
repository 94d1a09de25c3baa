/*
 * Captures the output of user code and its children.
 *
 * One file without a name behind descriptors 1 and 2 keeps the order of prints, raw writes and children; a pipe would
 * need a thread that drains it.
 */
'use strict'
const fs = require('node:fs')
const { StringDecoder } = require('node:string_decoder')
const { BoundedText } = require('./bounded-text.js')

const { closeSync, fstatSync, ftruncateSync, openSync, readSync, unlinkSync } = fs
const CHUNK_BYTES = 1 << 20
const STREAM_MS = 250 // between two output messages of a cell
const STREAM_CHARACTERS = 4_000
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
    for (const stream of [process.stdout, process.stderr]) this.#watch(stream)
  }

  setLimit(characters) {
    this.text.capacity = characters
  }

  beginCell() {
    this.lastSent = realNow() // so a short cell sends no output message before its result
    this.text.beginCell()
  }

  /** Returns the output since the last take, and the note of the runner. */
  take(note) {
    this.#drain()
    return this.text.take(note)
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
      this.text.add(text)
      offset += count
    }
    ftruncateSync(this.file, 0)
    return text
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
