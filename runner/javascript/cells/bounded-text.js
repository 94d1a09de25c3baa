/* The printed text of a cell. Keeps the head and the tail, and counts the rest. */
'use strict'

const MINIMUM_STEP_CHARACTERS = 1_000 // that every step may print, even after much output of its cell
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

  add(text) {
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

  /** Returns the text since the last take, and the note of the runner. */
  take(note = '') {
    const cut = this.dropped > 0 ? `\n[... ${this.dropped} characters cut ...]\n` : ''
    const text = this.head + cut + this.tail
    this.#clear()
    this.remaining -= text.length
    const separator = note !== '' && text !== '' && !text.endsWith('\n') ? '\n' : ''
    return text + separator + note
  }

  #clear() {
    this.head = this.tail = ''
    this.dropped = 0
  }
}

module.exports = { BoundedText }
