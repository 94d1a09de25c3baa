/** A value that is found out once and kept; a failure is not kept. */
export class Memo<T> {
  readonly #find: () => Promise<T>
  #value: Promise<T> | undefined

  constructor(find: () => Promise<T>) {
    this.#find = find
  }

  get(): Promise<T> {
    const value = (this.#value ??= this.#find())
    value.catch(() => {
      if (this.#value === value) this.#value = undefined
    })
    return value
  }

  forget(): void {
    this.#value = undefined
  }
}
