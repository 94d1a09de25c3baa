interface Entry<Value> {
  readonly value: Value
  readonly size: number
  readonly until: number
}

interface CacheLimits {
  readonly maxEntries: number
  /** Maximum of the sizes of all values. */
  readonly maxSize: number
  /** How long a value is kept. */
  readonly milliseconds: number
}

/** Keeps values for a time. Over a limit it drops the oldest ones. */
export class ExpiringCache<Value> {
  readonly #entries = new Map<string, Entry<Value>>()
  readonly #limits: CacheLimits
  readonly #now: () => number
  #size = 0

  constructor(limits: CacheLimits, now: () => number = () => performance.now()) {
    this.#limits = limits
    this.#now = now
  }

  get(key: string): Value | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    if (this.#now() < entry.until) return entry.value
    this.#delete(key)
    return undefined
  }

  set(key: string, value: Value, size: number): void {
    const { maxEntries, maxSize, milliseconds } = this.#limits
    this.#delete(key)
    if (size > maxSize) return
    this.#entries.set(key, { value, size, until: this.#now() + milliseconds })
    this.#size += size
    for (const [oldest, { until }] of this.#entries) {
      const isOver = this.#entries.size > maxEntries || this.#size > maxSize
      if (!isOver && this.#now() < until) break
      this.#delete(oldest)
    }
  }

  #delete(key: string): void {
    this.#size -= this.#entries.get(key)?.size ?? 0
    this.#entries.delete(key)
  }
}
