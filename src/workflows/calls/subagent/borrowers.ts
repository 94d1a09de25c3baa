/** The sub-agents that use the session of their parent, by the idempotency keys of their calls. */
export class Borrowers {
  readonly #keys = new Set<string>()
  #onReturn: (key: string) => void = () => undefined

  /**
   * True while a sub-agent uses the session. Then the run does not continue as new: the call of a sub-agent holds no
   * slot of the run.
   */
  get arePresent(): boolean {
    return this.#keys.size > 0
  }

  has(key: string): boolean {
    return this.#keys.has(key)
  }

  /** @param listener is called when a sub-agent no longer uses the session */
  onReturn(listener: (key: string) => void): void {
    this.#onReturn = listener
  }

  add(key: string): void {
    this.#keys.add(key)
  }

  remove(key: string): void {
    if (this.#keys.delete(key)) this.#onReturn(key)
  }
}
