import { setImmediate, setTimeout } from 'node:timers/promises'

/** Tokens of a full bucket, and tokens that are added each second. */
const burstCapacity = 64_000_000
const refillPerSecond = 16_000_000

/**
 * A token bucket that slows down a sandbox that causes too much work on the host. A token is the cost of one byte that
 * is only forwarded. The cost is counted and not timed, so a busy machine does not slow down an honest sandbox.
 */
export class RateLimiter {
  #tokens = burstCapacity
  #updatedAt = performance.now()

  /** Takes tokens. Settles at once while the bucket is not empty, otherwise after the missing tokens were added. */
  async consume(cost: number): Promise<void> {
    const now = performance.now()
    this.#tokens = Math.min(burstCapacity, this.#tokens + ((now - this.#updatedAt) / 1_000) * refillPerSecond) - cost
    this.#updatedAt = now
    if (this.#tokens < 0) await setTimeout((-this.#tokens / refillPerSecond) * 1_000, undefined, { ref: false })
  }
}

let lastYield: Promise<void> = Promise.resolve()

/**
 * Settles in a separate turn of the event loop, so that timers (and heartbeats) run between any two callers. The whole
 * process shares the queue, so it is fair over all sandboxes.
 */
export function yieldToEventLoop(): Promise<void> {
  lastYield = lastYield.then(() => setImmediate())
  return lastYield
}
