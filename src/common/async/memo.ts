/** Caches an async value. A rejection is not cached. */
export class Memo<T> {
  readonly #compute: () => Promise<T>
  #value: Promise<T> | undefined

  constructor(compute: () => Promise<T>) {
    this.#compute = compute
  }

  get(): Promise<T> {
    const value = (this.#value ??= this.#compute())
    value.catch(() => {
      if (this.#value === value) this.#value = undefined
    })
    return value
  }
}
