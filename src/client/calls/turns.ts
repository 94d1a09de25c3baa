/** Lets a few tasks with the same key run at once. The others wait, and start in the order in which they came. */
export class Turns {
  readonly #maxRunning: number
  readonly #keys = new Map<string, { running: number; readonly waiting: (() => void)[] }>()

  /** @param maxRunning maximum tasks of one key at once */
  constructor(maxRunning: number) {
    this.#maxRunning = maxRunning
  }

  /** Runs a task when it is its turn. */
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
