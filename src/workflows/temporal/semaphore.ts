import { condition } from '@temporalio/workflow'

/** Limits how many tasks run at once. Waiting tasks start in the order in which they came. */
export class Semaphore {
  readonly #count: number
  #tickets = 0
  #released = 0
  #acquired = 0
  #isPaused = false

  constructor(count: number) {
    this.#count = count
  }

  /** Number of tasks that run. */
  get acquired(): number {
    return this.#acquired
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

  /** No task starts until {@link resume}. Tasks that run are not affected. */
  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
  }

  /**
   * Runs a task as soon as a slot is free.
   *
   * @throws what the task throws, and the cancellation of a scope that waits for a slot
   */
  async run<Result>(task: () => Promise<Result>): Promise<Result> {
    // Each ticket waits for a slot of its own. If all waited for any free slot, several would take the same one.
    const ticket = this.#tickets
    this.#tickets += 1
    const hasSlot = (): boolean => !this.#isPaused && ticket < this.#released + this.#count
    try {
      if (!hasSlot()) await condition(hasSlot)
      this.#acquired += 1
      try {
        return await task()
      } finally {
        this.#acquired -= 1
      }
    } finally {
      this.#released += 1
    }
  }
}
