/** Things to be ended in the reverse order of their beginning; each once. (Node 20 has no AsyncDisposableStack.) */
export class Closers implements AsyncDisposable {
  readonly #closers: (() => Promise<unknown>)[] = []

  add(close: () => Promise<unknown>): void {
    this.#closers.push(close)
  }

  /** Ends everything, also when one fails; then the first failure is thrown. Idempotent. */
  async [Symbol.asyncDispose](): Promise<void> {
    const failures: unknown[] = []
    for (let close = this.#closers.pop(); close; close = this.#closers.pop()) {
      await close().catch((thrown: unknown) => failures.push(thrown))
    }
    if (failures.length > 0) throw failures[0]
  }
}
