import { Refusal } from './policy.js'

/** Maximum requests, and maximum reported refusals, of one step: so the events of a step are bounded. */
const maxPerStep = 10_000
const maxReportedRefusals = 1_000

/** Maximum requests at once: a program may send many on one connection without waiting for responses. */
const maxInProgress = 64

/** How often the programs of a sandbox send requests. */
export class RequestRate {
  #tokens: number | undefined
  #updatedAt = performance.now()
  #requests = 0
  #refusals = 0
  #number = 0
  #inProgress = 0

  beginStep(): void {
    this.#requests = 0
    this.#refusals = 0
    this.#number = 0
  }

  /** Returns the number of the next request in its step. */
  nextNumber(): number {
    this.#number += 1
    return this.#number
  }

  /**
   * Counts a request.
   *
   * @param perMinute also the number of requests that may be sent at once
   * @throws Refusal
   */
  take(perMinute: number): void {
    const now = performance.now()
    const refilled = (this.#tokens ?? perMinute) + ((now - this.#updatedAt) / 60_000) * perMinute
    this.#tokens = Math.min(refilled, perMinute)
    this.#updatedAt = now
    if (this.#tokens < 1) throw new Refusal('requests', `over ${perMinute} requests in a minute`, 429)
    if (this.#requests === maxPerStep) throw new Refusal('requests', `over ${maxPerStep} requests in a step`, 429)
    this.#tokens -= 1
    this.#requests += 1
  }

  /** Begins to serve a request; `leave` follows in any case. @throws Refusal */
  enter(): void {
    this.#inProgress += 1
    if (this.#inProgress > maxInProgress) throw new Refusal('requests', `over ${maxInProgress} requests at once`, 429)
  }

  leave(): void {
    this.#inProgress -= 1
  }

  mayReportRefusal(): boolean {
    this.#refusals += 1
    return this.#refusals <= maxReportedRefusals
  }
}
