import { CancellationScope, isCancellation } from '@temporalio/workflow'

/** A request from outside to stop work: the current cell of a session, or the work on a message. */
export class Interruption {
  #isRequested = false
  readonly #stops = new Set<() => void>()

  get isRequested(): boolean {
    return this.#isRequested
  }

  /**
   * Requests the interruption. A repeated request interrupts again, because code may catch an interrupt and continue.
   */
  request(): void {
    this.#isRequested = true
    this.stopWork()
  }

  /** Drops the request, because other work begins. */
  clear(): void {
    this.#isRequested = false
  }

  stopWork(): void {
    for (const stop of this.#stops) stop()
  }

  /** Does work that a new request cancels. */
  async runCancellable<Result>(work: () => Promise<Result>): Promise<Result | 'interrupted'> {
    const scope = new CancellationScope()
    const stop = () => scope.cancel()
    this.#stops.add(stop)
    try {
      return await scope.run(work)
    } catch (thrown) {
      const isOfRequest = this.#isRequested && !CancellationScope.current().consideredCancelled
      if (isOfRequest && isCancellation(thrown)) return 'interrupted'
      throw thrown
    } finally {
      this.#stops.delete(stop)
    }
  }

  /** Executes a step. Each request calls `interrupt` while the step is in progress; its end cancels these calls. */
  async runStep<Result>(step: () => Promise<Result>, interrupt: () => Promise<unknown>): Promise<Result> {
    const scope = new CancellationScope()
    const stop = () => void scope.run(interrupt).catch(() => undefined)
    this.#stops.add(stop)
    if (this.#isRequested) stop()
    try {
      return await step()
    } finally {
      this.#stops.delete(stop)
      scope.cancel()
    }
  }
}
