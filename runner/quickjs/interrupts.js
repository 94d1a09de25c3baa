/*
 * Ends code of the program: at the time limit of its cell, or when the host interrupts it. Code can't catch that, and no
 * `finally` runs. Waiting for the host does not count towards the time limit.
 */
'use strict'

const POLL_MS = 20

class Interrupts {
  /** @param bindings `now` and `interrupted` */
  constructor(bindings) {
    this.now = bindings.now
    this.isRequested = bindings.interrupted
    this.usedMs = 0
    this.limitMs = 90_000
    this.enteredAt = 0
    this.stepStartedAt = 0
    this.nextPoll = 0
    this.reason = undefined // 'limit' or 'request', when code is to end
  }

  /** Starts to count the time of a cell. */
  beginCell(limitMs) {
    this.usedMs = 0
    this.limitMs = limitMs
    this.reason = undefined
  }

  beginStep() {
    this.stepStartedAt = this.now()
  }

  /** Counts the time of the work. */
  measure(work) {
    this.enteredAt = this.now()
    try {
      return work()
    } finally {
      this.usedMs += this.now() - this.enteredAt
    }
  }

  /** Called by the engine every few thousand instructions. Returns whether the code must end. */
  check() {
    if (this.reason !== undefined) return true
    const now = this.now()
    if (this.usedMs + now - this.enteredAt > this.limitMs) this.reason = 'limit'
    else if (now >= this.nextPoll) {
      this.nextPoll = now + POLL_MS
      if (this.isRequested()) this.reason = 'request'
    }
    return this.reason !== undefined
  }

  /** Milliseconds since the step began. */
  get sinceStep() {
    return Math.max(Math.floor(this.now() - this.stepStartedAt), 0)
  }
}

module.exports = { Interrupts }
