/**
 * A queue for each key: runs at most a few tasks with the same key at once. The others wait, and start in the order in
 * which they arrived.
 */
export class Turns {
  readonly #maxRunning: number
  readonly #keys = new Map<string, { running: number; readonly waiting: (() => void)[] }>()

  /** @param maxRunning maximum concurrent tasks of one key */
  constructor(maxRunning: number) {
    this.#maxRunning = maxRunning
  }

  /** Runs a task as soon as its key has a free place. */
  async run<Result>(key: string, task: () => Promise<Result>): Promise<Result> {
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
