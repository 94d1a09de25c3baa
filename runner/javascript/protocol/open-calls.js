/* The tool calls of a program that have no result yet. They are numbered in the order of the code, over all cells. */
'use strict'
const { CellStop } = require('../program/errors.js')

const MAXIMUM_BYTES = 256 * 1024 // of the calls in one suspension
const MAXIMUM_COUNT = 2_000 // in one suspension: the next one follows at once, and sends the rest

class OpenCalls {
  constructor() {
    this.pending = new Map() // index -> what the session keeps of the call
    this.unsent = [] // pending calls that the host does not know yet
    this.index = 0 // of the last call
    this.countInCell = 0
  }

  beginCell() {
    this.countInCell = 0
  }

  /**
   * @param text the arguments as JSON
   * @param limit of the calls in one cell
   * @throws CellStop at the limit
   */
  add(tool, text, limit, kept) {
    this.countInCell += 1
    if (this.countInCell > limit) {
      const message = `more than ${limit} tool calls in one cell. Make the rest in the next cell.`
      throw new CellStop('limit_exceeded', message)
    }
    this.index += 1
    this.unsent.push({ call: this.index, tool, arguments: JSON.parse(text) })
    this.pending.set(this.index, { ...kept, tool })
    return this.index
  }

  get size() {
    return this.pending.size
  }

  hasSomeOf(cell) {
    for (const call of this.pending.values()) if (call.cell === cell) return true
    return false
  }

  /** Removes a call that has a result. Returns undefined when the code no longer waits for it. */
  take(index) {
    const call = this.pending.get(index)
    this.pending.delete(index)
    return call
  }

  /** Removes and returns the unsent calls that fit into one suspension, at least one. */
  takeUnsent() {
    return this.unsent.splice(0, countFitting(this.unsent))
  }

  forget() {
    this.pending.clear()
    this.unsent = []
  }
}

function countFitting(calls) {
  let size = 0
  for (const [index, call] of calls.entries()) {
    size += JSON.stringify(call).length
    if (index > 0 && (size > MAXIMUM_BYTES || index >= MAXIMUM_COUNT)) return index
  }
  return calls.length
}

module.exports = { OpenCalls }
