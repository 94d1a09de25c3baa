/*
 * Captures the output of user code and its children. Keeps the head and the tail, and counts the rest.
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

const { closeSync, ftruncateSync, openSync, readSync, unlinkSync } = fs
const CHUNK_BYTES = 1 << 20
const STREAM_MS = 250 // between two output messages of a cell
const STREAM_CHARACTERS = 4_000
const MINIMUM_STEP_CHARACTERS = 1_000 // that every step may print, even after much output of its cell
const MAXIMUM_RANGES = 250 // of stderr in one result; the last ones are kept
const MAXIMUM_PARTS = 10_000 // between two drains
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
    this.offset = 0 // of the file, up to which it is drained
    this.written = new WrittenParts(this.file)
    this.#watch(process.stdout, STDOUT)
    this.#watch(process.stderr, STDERR)
  }

  setLimit(characters) {
    this.capacity = characters
  }

  beginCell() {
    this.lastSent = realNow() // so a short cell sends no output message before its result
    this.remaining = this.capacity
  }

  /** Returns the members of a result with the output since the last take, and the note of the runner as stderr. */
  take(note = '') {
    this.#drain()
    const cut = this.dropped > 0 ? `\n[... ${this.dropped} characters cut ...]\n` : ''
    let text = this.head + cut + this.tail
    const ranges = this.#ranges(cut.length)
    this.#clear()
    this.remaining -= text.length
    if (note !== '') {
      const start = text.length
      text += (text === '' || text.endsWith('\n') ? '' : '\n') + note
      ranges.push([start, text.length])
    }
    const output = text.toWellFormed()
    return ranges.length === 0 ? { output } : { output, stderr: ranges.slice(-MAXIMUM_RANGES) }
  }

  /** Returns the parts of the text that were printed to stderr. `cut`: length of the marker in it. */
  #ranges(cut) {
    const head = this.head.length
    const missing = this.dropped - cut
    return this.stderr
      .map(([start, end]) => [
        start < head ? start : Math.max(start - missing, head + cut),
        end <= head + this.dropped ? Math.min(end, head) : end - missing,
      ])
      .filter(([start, end]) => start < end) // not dropped
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

  #clear() {
    this.head = this.tail = ''
    this.dropped = 0
    this.printed = 0 // characters, with the dropped ones
    this.stderr = [] // [start, end] in the printed characters
  }

  /** Moves the output from the file to the bounded text. Returns the end of the output. */
  #drain() {
    this.unread = 0
    let last = ''
    // Checked again: a child may print meanwhile.
    for (let parts; (parts = this.#undrained()).length > 0;) {
      const chunk = Buffer.alloc(Math.min(CHUNK_BYTES, parts.at(-1).end - this.offset))
      for (const { stream, end } of parts) {
        while (this.offset < end) {
          const count = readSync(this.file, chunk, 0, Math.min(chunk.length, end - this.offset), this.offset)
          const text = this.decoder.write(chunk.subarray(0, count))
          this.#add(text, stream)
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

  #add(text, stream) {
    const start = this.printed
    this.printed += text.length
    if (stream === STDERR && text !== '') {
      const last = this.stderr.at(-1)
      if (last?.[1] === start) last[1] = this.printed
      else this.stderr.push([start, this.printed])
      if (this.stderr.length > 2 * MAXIMUM_RANGES) this.stderr.splice(0, MAXIMUM_RANGES)
    }
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
