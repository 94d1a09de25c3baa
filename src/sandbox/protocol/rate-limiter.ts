import { setImmediate, setTimeout } from 'node:timers/promises'

/** Tokens of a full bucket, and tokens that are added each second. */
const burstCapacity = 64_000_000
const refillPerSecond = 16_000_000

/**
 * A token bucket that slows down a sandbox that gives the host too much work. A token is the cost of one byte that is
 * only passed on. The cost is counted, not timed: a busy machine does not slow down an honest sandbox.
 */
export class RateLimiter {
  #tokens = burstCapacity
  #updatedAt = performance.now()

  /** Takes tokens. Settles at once while the bucket is not empty, else when the missing tokens were added. */
  async consume(cost: number): Promise<void> {
    const now = performance.now()
    this.#tokens = Math.min(burstCapacity, this.#tokens + ((now - this.#updatedAt) / 1_000) * refillPerSecond) - cost
    this.#updatedAt = now
    if (this.#tokens < 0) await setTimeout((-this.#tokens / refillPerSecond) * 1_000, undefined, { ref: false })
  }
}

let lastYield: Promise<void> = Promise.resolve()

/**
 * Settles in a turn of the event loop of its own, so that timers (and heartbeats) run between any two callers. The
 * queue is shared by the whole process: it is fair over all sandboxes.
 */
export function yieldToEventLoop(): Promise<void> {
  lastYield = lastYield.then(() => setImmediate())
  return lastYield
}
