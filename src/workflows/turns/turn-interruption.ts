import { CancellationScope, isCancellation } from '@temporalio/workflow'

/** The interruption of a message by a person. It cancels the request to the model, or the direct calls. */
export class TurnInterruption {
  #isRequested = false
  #scope: CancellationScope | undefined

  get isRequested(): boolean {
    return this.#isRequested
  }

  request(): void {
    this.#isRequested = true
    this.cancelWork()
  }

  /** Called before the work on another message begins. */
  clear(): void {
    this.#isRequested = false
  }

  /** Returns the scope for work that an interruption cancels, until {@link endWork}. */
  beginWork(): CancellationScope {
    this.#scope = new CancellationScope()
    return this.#scope
  }

  endWork(): void {
    this.#scope = undefined
  }

  cancelWork(): void {
    this.#scope?.cancel()
  }

  /** Runs work that an interruption cancels. */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await this.beginWork().run(work)
    } finally {
      this.endWork()
    }
  }

  /** Returns true for a cancellation by an interruption, and false for the cancellation of the whole workflow. */
  hasCaused(thrown: unknown): boolean {
    return this.#isRequested && isCancellation(thrown) && !CancellationScope.current().consideredCancelled
  }
}
