import { CancellationScope, isCancellation } from '@temporalio/workflow'

/** The interruption of a message by a person: cancels the request to the model, or the direct calls. */
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

  /** Another message begins. */
  clear(): void {
    this.#isRequested = false
  }

  /** The scope of the work that an interruption cancels, until {@link endWork}. */
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

  /** True for the cancellation of work by an interruption, and not by that of the whole workflow. */
  hasCaused(thrown: unknown): boolean {
    return this.#isRequested && isCancellation(thrown) && !CancellationScope.current().consideredCancelled
  }
}
