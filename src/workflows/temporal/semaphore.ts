import { condition } from '@temporalio/workflow'

interface Waiter {
  hasSlot: boolean
}

/** Limits how many tasks run at once. Waiting tasks start in the order in which they arrived. */
export class Semaphore {
  readonly #count: number
  readonly #waiting: Waiter[] = []
  #acquired = 0
  #isPaused = false

  constructor(count: number) {
    this.#count = count
  }

  /** Number of tasks that have a slot. */
  get acquired(): number {
    return this.#acquired
  }

  get isPaused(): boolean {
    return this.#isPaused
  }

  /** Stops the start of tasks until {@link resume}. Tasks in progress are not affected. */
  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
    this.#grantSlots()
  }

  /**
   * Runs a task as soon as a slot is free.
   *
   * @throws what the task throws, and the cancellation of a scope that waits for a slot
   */
  async run<Result>(task: () => Promise<Result>): Promise<Result> {
    const waiter: Waiter = { hasSlot: false }
    this.#waiting.push(waiter)
    this.#grantSlots()
    try {
      if (!waiter.hasSlot) await condition(() => waiter.hasSlot)
      return await task()
    } finally {
      // A cancelled waiter has no slot to release.
      if (waiter.hasSlot) this.#acquired -= 1
      else this.#waiting.splice(this.#waiting.indexOf(waiter), 1)
      this.#grantSlots()
    }
  }

  #grantSlots(): void {
    while (!this.#isPaused && this.#acquired < this.#count) {
      const waiter = this.#waiting.shift()
      if (!waiter) return
      waiter.hasSlot = true
      this.#acquired += 1
    }
  }
}
