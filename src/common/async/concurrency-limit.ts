/** Runs at most a few tasks with the same key at once. The others wait, and start in the order in which they arrived. */
export class ConcurrencyLimit {
  readonly #maxRunning: number
  readonly #keys = new Map<string, { running: number; readonly waiting: (() => void)[] }>()

  /** @param maxRunning maximum concurrent tasks of one key */
  constructor(maxRunning: number) {
    this.#maxRunning = maxRunning
  }

  /** Runs a task as soon as fewer tasks of its key than the maximum are in progress. */
  async run<Result>(task: () => Promise<Result>, key = ''): Promise<Result> {
    const tasks = this.#keys.get(key) ?? { running: 0, waiting: [] }
    this.#keys.set(key, tasks)
    if (tasks.running < this.#maxRunning) tasks.running += 1
    else await new Promise<void>((resolve) => tasks.waiting.push(resolve))
    try {
      return await task()
    } finally {
      const next = tasks.waiting.shift()
      if (next) next()
      else tasks.running -= 1
      if (tasks.running === 0) this.#keys.delete(key)
    }
  }
}
