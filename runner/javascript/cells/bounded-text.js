/* The printed text of a cell, with the parts of stderr. Keeps the head and the tail, and counts the rest. */
'use strict'

const MINIMUM_STEP_CHARACTERS = 1_000 // that every step may print, even after much output of its cell
const MAXIMUM_RANGES = 250 // of stderr in one result; the last ones are kept
const RESERVED_CHARACTERS = 200 // for the omission marker and for hints: the host cuts at the limit, and would cut them

class BoundedText {
  constructor() {
    this.capacity = 20_000
    this.#clear()
    this.beginCell()
  }

  beginCell() {
    this.remaining = this.capacity
  }

  add(text, isError = false) {
    const start = this.printed
    this.printed += text.length
    if (isError && text !== '') {
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

  /** Returns the members of a result with the text since the last take, and the note of the runner as stderr. */
  take(note = '') {
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

  #clear() {
    this.head = this.tail = ''
    this.dropped = 0
    this.printed = 0 // characters, with the dropped ones
    this.stderr = [] // [start, end] in the printed characters
  }
}

module.exports = { BoundedText }
