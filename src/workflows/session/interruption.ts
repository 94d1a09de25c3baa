import { CancellationScope } from '@temporalio/workflow'

/** Somebody outside wants the current cell to stop. Code that runs is interrupted; where it waits, a step stops it. */
export class Interruption {
  #isRequested = false
  #interruptStep: (() => void) | undefined

  get isRequested(): boolean {
    return this.#isRequested
  }

  /** Each time again: code may catch an interrupt and go on. */
  request(): void {
    this.#isRequested = true
    this.#interruptStep?.()
  }

  /** Another cell begins. */
  clear(): void {
    this.#isRequested = false
  }

  /** Carries out a step; `interrupt` is called while it is under way, and given up when it has ended. */
  async run<Answer>(step: () => Promise<Answer>, interrupt: () => Promise<unknown>): Promise<Answer> {
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
