/* The results of steps that the workflow may request again: the last step, and steps that are not recorded yet. */
'use strict'

const MAXIMUM_BYTES = 1 << 20 // of all kept results but the last one
const MAXIMUM_COUNT = 1_000

/** Results by step number, in step order. A result that was dropped for space costs a rebuild at most. */
class KeptResults {
  constructor() {
    this.results = new Map()
    this.bytes = 0
  }

  has(number) {
    return this.results.has(number)
  }

  add(number, digest, result, size) {
    while (this.results.size > 0 && (this.bytes > MAXIMUM_BYTES || this.results.size >= MAXIMUM_COUNT))
      this.#drop(this.results.keys().next().value)
    this.results.set(number, { digest, result, size })
    this.bytes += size
  }

  /** Returns the result of this step, if it is kept and has this digest. */
  get(number, digest) {
    const kept = this.results.get(number)
    return kept?.digest === digest ? kept?.result : undefined
  }

  /** Drops the results of the steps up to this number: they are recorded, and not requested again. */
  forget(recorded) {
    for (const number of this.results.keys()) if (number <= recorded) this.#drop(number)
  }

  #drop(number) {
    this.bytes -= this.results.get(number).size
    this.results.delete(number)
  }
}

module.exports = { KeptResults }
