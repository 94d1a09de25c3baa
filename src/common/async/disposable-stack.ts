/** Runs its callbacks once, in reverse order. (Node 20 has no AsyncDisposableStack.) */
export class DisposableStack implements AsyncDisposable {
  readonly #disposers: (() => Promise<unknown>)[] = []

  defer(onDispose: () => Promise<unknown>): void {
    this.#disposers.push(onDispose)
  }

  /** Runs every callback, also after a failure; then throws the first failure. Idempotent. */
  async [Symbol.asyncDispose](): Promise<void> {
    const errors: unknown[] = []
    for (let dispose = this.#disposers.pop(); dispose; dispose = this.#disposers.pop()) {
      await dispose().catch((thrown: unknown) => errors.push(thrown))
    }
    if (errors.length > 0) throw errors[0]
  }
}
