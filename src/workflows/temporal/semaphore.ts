import { condition } from '@temporalio/workflow'

interface Waiter {
  state: 'waiting' | 'acquired' | 'freed'
}

/** Limits how many tasks run at once. Waiting tasks start in the order in which they arrived. */
export class Semaphore {
  readonly #count: number
  readonly #waiting: Waiter[] = []
  #acquired = 0
  #isClosed = false

  constructor(count: number) {
    this.#count = count
  }

  get acquired(): number {
    return this.#acquired
  }

  /** True when a task would start at once. */
  get isFree(): boolean {
    return !this.#isClosed && this.#acquired < this.#count && this.#waiting.length === 0
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Stops the start of tasks until {@link reopen}. Tasks in progress are not affected. */
  close(): void {
    this.#isClosed = true
  }

  reopen(): void {
    this.#isClosed = false
    this.#grantSlots()
  }

  /**
   * Runs a task as soon as a slot is free.
   *
   * @param task may call its argument to free its slot before it ends
   * @throws what the task throws, and the cancellation of a scope that waits for a slot
   */
  async run<Result>(task: (free: () => void) => Promise<Result>): Promise<Result> {
    const waiter: Waiter = { state: 'waiting' }
    this.#waiting.push(waiter)
    this.#grantSlots()
    try {
      if (waiter.state === 'waiting') await condition(() => waiter.state !== 'waiting')
      return await task(() => this.#free(waiter))
    } finally {
      this.#free(waiter)
    }
  }

  #free(waiter: Waiter): void {
    if (waiter.state === 'acquired') this.#acquired -= 1
    // A cancelled waiter has no slot to release.
    else if (waiter.state === 'waiting') this.#waiting.splice(this.#waiting.indexOf(waiter), 1)
    waiter.state = 'freed'
    this.#grantSlots()
  }

  #grantSlots(): void {
    while (!this.#isClosed && this.#acquired < this.#count) {
      const waiter = this.#waiting.shift()
      if (!waiter) return
      waiter.state = 'acquired'
      this.#acquired += 1
    }
  }
}
