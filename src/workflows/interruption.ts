import { CancellationScope } from '@temporalio/workflow'

/** Somebody outside wants the current cell to stop. Code that runs is interrupted; where it waits, a step stops it. */
export class Interruption {
  #isWanted = false
  #interrupt: (() => void) | undefined

  get isWanted(): boolean {
    return this.#isWanted
  }

  /** Each time again: code may catch an interrupt and go on. */
  want(): void {
    this.#isWanted = true
    this.#interrupt?.()
  }

  /** Another cell begins. */
  clear(): void {
    this.#isWanted = false
  }

  /** Carries out a step; `interrupt` is called while it is under way, and given up when it has ended. */
  async around<Answer>(step: () => Promise<Answer>, interrupt: () => Promise<unknown>): Promise<Answer> {
    const scope = new CancellationScope()
    this.#interrupt = () => void scope.run(interrupt).catch(() => undefined)
    if (this.#isWanted) this.#interrupt()
    try {
      return await step()
    } finally {
      this.#interrupt = undefined
      scope.cancel()
    }
  }
}
