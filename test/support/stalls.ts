import { existsSync, readFileSync } from 'node:fs'

/** How often the event loop is looked at, in milliseconds. */
const everyMs = 5

/**
 * Follows the event loop of this process until stopped; gives its longest stall in milliseconds. Time in which this process
 * did not have a processor is not counted: a busy machine is not the product's fault.
 */
export function watchStalls(): { readonly stop: () => number } {
  let longest = 0
  let at = performance.now()
  let used = loopCpuMs()
  const look = (): void => {
    const now = performance.now()
    const usedNow = loopCpuMs()
    longest = Math.max(longest, Math.min(now - at - everyMs, usedNow - used))
    at = now
    used = usedNow
  }
  const timer = setInterval(look, everyMs)
  return {
    stop() {
      clearInterval(timer)
      look()
      return longest
    },
  }
}

/** Linux counts the processor time of each thread, in nanoseconds; the event loop of a test process is its first thread. */
const ownThread = `/proc/self/task/${process.pid}/schedstat`
const countsThreads = existsSync(ownThread)

/** Processor time of the event loop. Elsewhere that of all threads: rather too much than too little. */
function loopCpuMs(): number {
  if (countsThreads) return Number(readFileSync(ownThread, 'utf8').split(' ')[0]) / 1_000_000
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}
