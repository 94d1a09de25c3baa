/** One timer that can be put off and taken back. */
export class Deadline {
  readonly #onReached: () => void
  #timer: NodeJS.Timeout | undefined

  constructor(onReached: () => void) {
    this.#onReached = onReached
  }

  /** From now on; takes the place of what ran before. */
  start(milliseconds: number): void {
    this.stop()
    this.#timer = setTimeout(this.#onReached, milliseconds)
  }

  stop(): void {
    clearTimeout(this.#timer)
  }
}
