/* Values that are too large for a frame. They arrive in pieces, one value after another, before their step. */
'use strict'
const { createHash } = require('node:crypto')
const { CellStop } = require('../program/errors.js')

class IncomingValue {
  constructor() {
    this.pieces = []
    this.digest = createHash('sha256')
    this.count = 0
    this.characters = 0
    this.isComplete = false
    this.text = undefined
    this.problem = undefined
  }

  add(text, memoryBytes) {
    this.count += 1
    this.characters += text.length
    if (this.problem !== undefined) return
    if (4 * this.characters > memoryBytes) {
      // The pieces, their joined text and the value can't fit.
      this.pieces = []
      this.problem = "it does not fit in the sandbox's memory"
      return
    }
    this.digest.update(text)
    this.pieces.push(text)
  }

  /** Returns false when the text has another SHA-256 than `reference`. */
  finish(reference) {
    if (this.problem === undefined && this.digest.digest('hex') !== reference) return false
    this.isComplete = true
    this.text = this.pieces.join('')
    this.pieces = []
    return true
  }
}

/**
 * The values that have arrived for the next step. Cleared when the fence changes.
 *
 * `receiving`: undefined (piece 0 comes next), the reference of the value that arrives, or null (an error was reported:
 * pieces are ignored until a piece 0).
 */
class IncomingValues {
  constructor() {
    this.memoryBytes = Number.MAX_SAFE_INTEGER
    this.clear()
  }

  clear() {
    this.values = new Map()
    this.receiving = undefined
  }

  /** Adds one piece. Returns an error when the transfer must begin again, once: later pieces are discarded. */
  add(reference, piece, text, last) {
    if (piece === 0) this.#start(reference)
    if (this.receiving === null) return undefined
    if (this.receiving === undefined) {
      this.receiving = null
      return `got piece ${piece} of value ${reference}, which did not begin`
    }
    const value = this.values.get(this.receiving)
    if (reference !== this.receiving || piece !== value.count) {
      this.#discard()
      return `got piece ${piece} of value ${reference} where piece ${value.count} was to come`
    }
    value.add(text, this.memoryBytes)
    if (last && !value.finish(reference)) {
      this.#discard()
      return `the text of value ${reference} arrived damaged`
    }
    if (last) this.receiving = undefined
    return undefined
  }

  /** Returns the reference of a value that this step needs and that is not complete; undefined when all are. */
  missing(frame) {
    const outcomes = (frame.results ?? []).map(({ outcome }) => outcome)
    return [frame, frame.input_data ?? {}, ...outcomes].find(
      ({ ref }) => ref !== undefined && this.values.get(ref)?.isComplete !== true,
    )?.ref
  }

  /** Returns the JSON of the value. Throws CellStop when it can't be created here. */
  take(reference) {
    const { problem, characters, text } = this.values.get(reference)
    if (problem === undefined) return text
    const rule = `a value of ${characters} characters can't be given to the code: ${problem}`
    throw new CellStop('limit_exceeded', `${rule}. Ask the tool for less.`)
  }

  #start(reference) {
    this.values.delete(this.receiving)
    this.receiving = reference
    this.values.set(reference, new IncomingValue())
  }

  #discard() {
    this.values.delete(this.receiving)
    this.receiving = null
  }
}

module.exports = { IncomingValues }
