/** How often the event loop is looked at, in milliseconds. */
const everyMs = 5

/**
 * Follows the event loop of this process until stopped; gives its longest stall in milliseconds. Time in which this process
 * did not have a processor is not counted: a busy machine is not the product's fault.
 */
export function watchStalls(): { readonly stop: () => number } {
  let longest = 0
  let at = performance.now()
  let used = process.cpuUsage()
  const look = (): void => {
    const now = performance.now()
    const { user, system } = process.cpuUsage(used)
    // Other threads' work counts too: rather too much than too little.
    longest = Math.max(longest, Math.min(now - at - everyMs, (user + system) / 1_000))
    at = now
    used = process.cpuUsage()
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
