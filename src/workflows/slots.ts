import { condition } from '@temporalio/workflow'

/** So many may work at once; the rest waits, first come first served. */
export class Slots {
  readonly #count: number
  #tickets = 0
  #left = 0
  #held = 0
  #isPaused = false

  constructor(count: number) {
    this.#count = count
  }

  /** Slots that are taken. */
  get held(): number {
    return this.#held
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
  async hold<Result>(work: () => Promise<Result>): Promise<Result> {
    // Each ticket has a turn of its own: were all to wait for "a free slot", all would see the same one.
    const ticket = this.#tickets
    this.#tickets += 1
    const isMyTurn = (): boolean => !this.#isPaused && ticket < this.#left + this.#count
    try {
      if (!isMyTurn()) await condition(isMyTurn)
      this.#held += 1
      try {
        return await work()
      } finally {
        this.#held -= 1
      }
    } finally {
      this.#left += 1
    }
  }
}
