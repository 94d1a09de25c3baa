import { existsSync, readFileSync } from 'node:fs'

/** Interval of samples of the event loop, in milliseconds. */
const sampleMs = 5

/** Delays of the event loop of a process, in milliseconds. */
export interface EventLoopDelay {
  /**
   * The longest time that the event loop was blocked, and so the maximum delay of a timer such as that of a heartbeat.
   * Time in which the process waited for a CPU is not included: a busy machine is not a defect of the product.
   */
  readonly maxDelayMs: number
  /** The longest wait for a CPU between two samples; 0 where it is unknown. */
  readonly maxCpuWaitMs: number
}

/** Monitors the event loop of this process until stopped. */
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
 * Linux counts for each thread the nanoseconds that it ran and that it waited for a CPU. The event loop of a test
 * process is its first thread.
 */
const ownThread = `/proc/self/task/${process.pid}/schedstat`
const countsThreads = existsSync(ownThread)

/**
 * Milliseconds for which the event loop ran, and waited for a CPU. On other systems the former includes all threads.
 */
function loopTimes(): { readonly used: number; readonly waited: number } {
  if (countsThreads) {
    const [used = 0, waited = 0] = readFileSync(ownThread, 'utf8').split(' ').map(Number)
    return { used: used / 1e6, waited: waited / 1e6 }
  }
  const { user, system } = process.cpuUsage()
  return { used: (user + system) / 1_000, waited: 0 }
}
