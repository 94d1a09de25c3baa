/*
 * Suspends a program whose event loop never ends, because it has an open server, watcher, worker or child process.
 *
 * `beforeExit` does not come then. So when calls or timers are pending and the event loop sleeps, the program is
 * suspended all the same, and the host sends a step at growing intervals, in which local work continues.
 *
 * A request to the system, such as reading a file, ends soon, and then the program goes on. On a busy machine it takes
 * longer than the event loop seems to sleep, and a rebuild must find the same calls: so the program waits for it, within
 * limits, because reading from a pipe may never end.
 */
'use strict'
const { setInterval } = require('node:timers')

const CHECK_MS = 20
const SLEEP_MS = 15 // of the last interval
const REQUESTS_MS = 1_000 // for which the event loop may sleep in a cell, or after a call, while requests are pending
const [POLL_FLOOR, POLL_CEILING] = [0.05, 5] // seconds; each poll is a durable step
// Not `eventLoopUtilization`, which reads `process.hrtime`, and so would move the clock of the program.
const { nodeTiming } = performance

class LocalWork {
  /** @param suspend called with seconds until the next step; returns false when nothing is pending */
  constructor(interrupts, suspend) {
    this.interrupts = interrupts
    this.suspend = suspend
    this.reset()
    this.idleBefore = nodeTiming.idleTime
    setInterval(() => this.#check(), CHECK_MS).unref()
    this.known = new Set(process._getActiveHandles())
  }

  /** Called when a cell or a call begins. */
  reset() {
    this.pause = POLL_FLOOR
    this.patienceMs = REQUESTS_MS
  }

  #check() {
    const idle = nodeTiming.idleTime
    const slept = idle - this.idleBefore
    this.idleBefore = idle
    // Without anything to wait for, `beforeExit` comes next: the last request has ended since the loop slept.
    if (slept < SLEEP_MS || process.getActiveResourcesInfo().length === 0) return
    if (this.#isWaitingForRequest() || !this.suspend(this.pause)) return
    this.pause = Math.min(2 * this.pause, POLL_CEILING)
    this.idleBefore = nodeTiming.idleTime
  }

  #isWaitingForRequest() {
    if (process._getActiveRequests().length === 0 || this.patienceMs <= 0) return false
    this.patienceMs -= CHECK_MS
    return true
  }

  /** Closes what a stopped cell has left open, so that its callbacks do not run. */
  end() {
    for (const handle of process._getActiveHandles()) {
      if (this.known.has(handle)) continue
      try {
        if (typeof handle.kill === 'function' && handle.pid) handle.kill('SIGKILL')
        else if (typeof handle.destroy === 'function') handle.destroy()
        else handle.close?.()
        handle.unref?.()
      } catch {
        // It is closed already.
      }
    }
  }
}

module.exports = { LocalWork }
