import { condition } from '@temporalio/workflow'

/** So many may work at once; the rest waits, first come first served. */
export class Semaphore {
  readonly #count: number
  #tickets = 0
  #released = 0
  #acquired = 0
  #isPaused = false

  constructor(count: number) {
    this.#count = count
  }

  /** Slots that are taken. */
  get acquired(): number {
    return this.#acquired
  }

  /** Until {@link resume} nobody begins; who works goes on. */
  pause(): void {
    this.#isPaused = true
  }

  resume(): void {
    this.#isPaused = false
  }

  /**
   * Works once there is a slot.
   *
   * @throws what the work throws, and the cancellation of who waits
   */
  async run<Result>(work: () => Promise<Result>): Promise<Result> {
    // Each ticket has a turn of its own: were all to wait for "a free slot", all would see the same one.
    const ticket = this.#tickets
    this.#tickets += 1
    const isMyTurn = (): boolean => !this.#isPaused && ticket < this.#released + this.#count
    try {
      if (!isMyTurn()) await condition(isMyTurn)
      this.#acquired += 1
      try {
        return await work()
      } finally {
        this.#acquired -= 1
      }
    } finally {
      this.#released += 1
    }
  }
}
