/** Keeps the last bytes of a stream that may never end. */
export class Tail {
  readonly #limit: number
  #bytes: Uint8Array = new Uint8Array()

  constructor(limit: number) {
    this.#limit = limit
  }

  push(chunk: Uint8Array): void {
    this.#bytes = Buffer.concat([this.#bytes, chunk]).subarray(-this.#limit)
  }

  get text(): string {
    return Buffer.from(this.#bytes).toString('utf8')
  }
}
