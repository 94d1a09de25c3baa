import { CancellationScope, isCancellation } from '@temporalio/workflow'

/**
 * A request from outside to stop the current cell. The runner interrupts code that runs. If the cell waits, the
 * workflow stops it with a step.
 */
export class Interruption {
  #isRequested = false
  #interruptStep: (() => void) | undefined

  get isRequested(): boolean {
    return this.#isRequested
  }

  /**
   * Requests the interruption. A repeated request interrupts again, because code may catch an interrupt and continue.
   */
  request(): void {
    this.#isRequested = true
    this.#interruptStep?.()
  }

  /** Drops the request, for example when another cell starts. */
  clear(): void {
    this.#isRequested = false
  }

  /** Does work that a new request cancels. Returns false when a request has cancelled it. */
  async runUntilRequested(work: () => Promise<unknown>): Promise<boolean> {
    const scope = new CancellationScope()
    let isInterrupted = false
    this.#interruptStep = () => {
      isInterrupted = true
      scope.cancel()
    }
    try {
      await scope.run(work)
      return true
    } catch (thrown) {
      const isOfRequest = isInterrupted && !CancellationScope.current().consideredCancelled
      if (isOfRequest && isCancellation(thrown)) return false
      throw thrown
    } finally {
      this.#interruptStep = undefined
    }
  }

  /** Executes a step. Each request calls `interrupt` while the step is in progress; its end cancels these calls. */
  async run<Result>(step: () => Promise<Result>, interrupt: () => Promise<unknown>): Promise<Result> {
    const scope = new CancellationScope()
    this.#interruptStep = () => void scope.run(interrupt).catch(() => undefined)
    if (this.#isRequested) this.#interruptStep()
    try {
      return await step()
    } finally {
      this.#interruptStep = undefined
      scope.cancel()
    }
  }
}
