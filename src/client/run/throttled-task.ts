/** The task uses at most 1/50 of the time. */
const maxTimeShare = 50
const minPauseMs = 100
const maxPauseMs = 2_000

/**
 * Runs a task soon after each change. The pause after a run is 49 times its duration, within limits: many changes in a
 * row cost at most a fiftieth of the time. A task that has thrown does not run again.
 */
export class ThrottledTask {
  readonly #task: () => Promise<void>
  readonly #onFailure: (reason: unknown) => void
  #timer: NodeJS.Timeout | undefined
  #running: Promise<void> | undefined
  #isPending = false
  #isClosed = false
  /** Earliest time of the next run, by `performance.now`. */
  #nextRunAt = 0
  #failure: { readonly reason: unknown } | undefined

  /** @param onFailure called once, with the error of the task */
  constructor(task: () => Promise<void>, onFailure: (reason: unknown) => void) {
    this.#task = task
    this.#onFailure = onFailure
  }

  /** Runs the task soon; once for several consecutive calls. */
  schedule(): void {
    this.#isPending = true
    if (this.#isClosed || this.#failure !== undefined || this.#timer !== undefined || this.#running !== undefined)
      return
    const pauseMs = Math.max(0, this.#nextRunAt - performance.now())
    this.#timer = setTimeout(() => {
      this.#timer = undefined
      this.#running = this.#run()
    }, pauseMs)
  }

  /** @throws the error of the task */
  throwIfFailed(): void {
    if (this.#failure !== undefined) throw this.#failure.reason
  }

  /** Waits for a running task, and starts no other. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    await this.#running
  }

  /** True when a change was scheduled after the start of the last run. */
  get isPending(): boolean {
    return this.#isPending
  }

  async #run(): Promise<void> {
    const startedAt = performance.now()
    this.#isPending = false
    try {
      await this.#task()
    } catch (reason) {
      this.#failure = { reason }
      this.#onFailure(reason)
    }
    const endedAt = performance.now()
    this.#nextRunAt = endedAt + Math.min(Math.max((endedAt - startedAt) * (maxTimeShare - 1), minPauseMs), maxPauseMs)
    this.#running = undefined
    if (this.#isPending) this.schedule()
  }
}
