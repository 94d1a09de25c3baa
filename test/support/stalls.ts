import { existsSync, readFileSync } from 'node:fs'

/** How often the event loop is looked at, in milliseconds. */
const everyMs = 5

/** How the event loop of a process fared, in milliseconds. */
export interface Stalls {
  /**
   * The longest that the event loop did not run for: the longest that a timer, such as that of a heartbeat, was late. Time in
   * which the process did not have a processor is not counted: a busy machine is not the product's fault.
   */
  readonly stallMs: number
  /** The longest that it waited for a processor between two looks; 0 where that is not known. */
  readonly starvedMs: number
}

/** Follows the event loop of this process until stopped. */
export function watchStalls(): { readonly stop: () => Stalls } {
  let stallMs = 0
  let starvedMs = 0
  let at = performance.now()
  let { used, waited } = loopTimes()
  const look = (): void => {
    const now = performance.now()
    const times = loopTimes()
    stallMs = Math.max(stallMs, Math.min(now - at - everyMs, times.used - used))
    starvedMs = Math.max(starvedMs, times.waited - waited)
    at = now
    ;({ used, waited } = times)
  }
  const timer = setInterval(look, everyMs)
  return {
    stop() {
      clearInterval(timer)
      look()
      return { stallMs, starvedMs }
    },
  }
}

/**
 * Linux counts for each thread how long it ran and how long it waited for a processor, in nanoseconds; the event loop of a
 * test process is its first thread.
 */
const ownThread = `/proc/self/task/${process.pid}/schedstat`
const countsThreads = existsSync(ownThread)

/** Milliseconds that the event loop had a processor, and waited for one. Elsewhere the former of all threads: rather too much. */
function loopTimes(): { readonly used: number; readonly waited: number } {
  if (countsThreads) {
    const [used = 0, waited = 0] = readFileSync(ownThread, 'utf8').split(' ').map(Number)
    return { used: used / 1e6, waited: waited / 1e6 }
  }
  const { user, system } = process.cpuUsage()
  return { used: (user + system) / 1_000, waited: 0 }
}
