import { existsSync, readFileSync } from 'node:fs'

/** How often the event loop is looked at, in milliseconds. */
const sampleMs = 5

/** How the event loop of a process fared, in milliseconds. */
export interface EventLoopDelay {
  /**
   * The longest that the event loop did not run for: the longest that a timer, such as that of a heartbeat, was late. Time in
   * which the process did not have a processor is not counted: a busy machine is not the product's fault.
   */
  readonly maxDelayMs: number
  /** The longest that it waited for a processor between two looks; 0 where that is not known. */
  readonly maxCpuWaitMs: number
}

/** Follows the event loop of this process until stopped. */
export function monitorEventLoopDelay(): { readonly stop: () => EventLoopDelay } {
  let maxDelayMs = 0
  let maxCpuWaitMs = 0
  let at = performance.now()
  let { used, waited } = loopTimes()
  const sample = (): void => {
    const now = performance.now()
    const times = loopTimes()
    maxDelayMs = Math.max(maxDelayMs, Math.min(now - at - sampleMs, times.used - used))
    maxCpuWaitMs = Math.max(maxCpuWaitMs, times.waited - waited)
    at = now
    ;({ used, waited } = times)
  }
  const timer = setInterval(sample, sampleMs)
  return {
    stop() {
      clearInterval(timer)
      sample()
      return { maxDelayMs, maxCpuWaitMs }
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
