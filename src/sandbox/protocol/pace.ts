import { setImmediate, setTimeout } from 'node:timers/promises'

/** Cost that is free after a while of silence, and that comes back each second. */
const burst = 64_000_000
const perSecond = 16_000_000

/**
 * Slows down whoever gives the host more to do than it may. Cost is counted in bytes that are only passed on; what is more
 * work counts as more of them. By count, not by the clock: a busy machine does not slow down an honest sandbox.
 */
export class Pace {
  #credit = burst
  #at = performance.now()

  /** Settles at once while there is credit, else when what was spent has come back. */
  async spend(cost: number): Promise<void> {
    const now = performance.now()
    this.#credit = Math.min(burst, this.#credit + ((now - this.#at) / 1_000) * perSecond) - cost
    this.#at = now
    if (this.#credit < 0) await setTimeout((-this.#credit / perSecond) * 1_000, undefined, { ref: false })
  }
}

let lastTurn: Promise<void> = Promise.resolve()

/**
 * Settles in a turn of the event loop that no other caller is given: however many sandboxes give the host work at once, timers
 * (and with them heartbeats) come between any two pieces of it.
 */
export function ownTurn(): Promise<void> {
  lastTurn = lastTurn.then(() => setImmediate())
  return lastTurn
}
