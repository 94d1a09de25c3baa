/** A timeout that can be restarted and cancelled. */
export class ResettableTimer {
  readonly #onElapsed: () => void
  #timer: NodeJS.Timeout | undefined

  constructor(onElapsed: () => void) {
    this.#onElapsed = onElapsed
  }

  /** Replaces the running timeout, if there is one. */
  start(milliseconds: number): void {
    this.stop()
    this.#timer = setTimeout(this.#onElapsed, milliseconds)
  }

  stop(): void {
    clearTimeout(this.#timer)
  }
}
