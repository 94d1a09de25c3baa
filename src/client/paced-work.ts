/** The share of the time that the work may take: one part in so many. */
const share = 20
const leastPauseMs = 100
const mostPauseMs = 2_000

/**
 * Repeats a piece of work as things change: soon after a change, but with pauses that grow with what the work costs, so that many
 * changes in a row take at most a twentieth of the time.
 */
export class PacedWork {
  readonly #work: () => Promise<void>
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined
  #isDue = false
  #isClosed = false
  /** By `performance.now`. */
  #notBefore = 0
  #failure: { readonly reason: unknown } | undefined

  constructor(work: () => Promise<void>) {
    this.#work = work
  }

  /** Something has changed. */
  request(): void {
    this.#isDue = true
    if (this.#isClosed || this.#timer !== undefined || this.#running !== undefined) return
    const pauseMs = Math.max(0, this.#notBefore - performance.now())
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#running = this.#run()
    }, pauseMs)
  }

  /** @throws what the work has thrown */
  check(): void {
    if (this.#failure !== undefined) throw this.#failure.reason
  }

  /** Waits for work that has begun, and begins no more. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#running
  }

  /** Is there a change that the work has not seen? */
  get isDue(): boolean {
    return this.#isDue
  }

  async #run(): Promise<void> {
    const began = performance.now()
    this.#isDue = false
    try {
      await this.#work()
    } catch (reason) {
      this.#failure ??= { reason }
    }
    const ended = performance.now()
    this.#notBefore = ended + Math.min(Math.max((ended - began) * (share - 1), leastPauseMs), mostPauseMs)
    this.#running = undefined
    if (this.#isDue) this.request()
  }
}
