/*
 * The time of the program.
 *
 * A rebuilt program must read the same times. So only what a rebuild repeats moves this clock: the steps, the length of
 * a wait, and one microsecond for each read, so that a loop that waits for the clock ends. Computing time is not
 * repeatable, so it does not move the clock; the next step corrects it.
 *
 * Timers count waiting only. Otherwise a timer that was set after a long computation would fire at the next step, too
 * early.
 */
'use strict'

/** All times are whole microseconds since the session began, unless their name or comment says otherwise. */
class ProgramClock {
  constructor() {
    this.origin = 0 // milliseconds since the epoch when the session began
    this.now = 0 // the value that `Date` and `performance` read
    this.waited = 0 // the value that timers read: the waiting time
    this.waitedAtResult = 0 // the host measures `waited` from the last result
  }

  /** Called when the host got a result: `waited` of the next step counts from this time. */
  markResult() {
    this.waitedAtResult = this.waited
  }

  /** Advances to the time of a step, in milliseconds. `waited` is undefined in the first step of a session. */
  beginStep(nowMs, waitedMs) {
    const now = Math.floor(nowMs * 1_000)
    this.advanceTo(now, waitedMs === undefined ? now : this.waitedAtResult + Math.floor(waitedMs * 1_000))
  }

  advanceTo(now, waited) {
    this.now = Math.max(this.now, now)
    this.waited = Math.max(this.waited, waited)
  }

  /** Returns the values of both clocks after this number of microseconds, as arguments of `advanceTo`. */
  after(microseconds) {
    return [this.now + microseconds, this.waited + microseconds]
  }

  /** Returns milliseconds since the epoch, as a whole number. */
  readWall() {
    this.now += 1
    return this.origin + Math.floor(this.now / 1_000)
  }

  /** Returns milliseconds since the session began. */
  readMonotonic() {
    this.now += 1
    return this.now / 1_000
  }
}

module.exports = { ProgramClock }
