import type { RunHandle } from '../../client/run/run-handle.js'
import { sinceTime, waitLine, type WaitingRun } from '../rendering/text/waits.js'

/** Says once what a conversation waits for, and the command with which it goes on. */
export class ShownWaits {
  readonly #handle: Pick<RunHandle<unknown>, 'describe' | 'tree'>
  readonly #shown = new Set<string>()

  constructor(handle: Pick<RunHandle<unknown>, 'describe' | 'tree'>) {
    this.#handle = handle
  }

  /**
   * The lines that are new.
   *
   * @param waitingCalls number of calls that wait, as the conversation says: without any, its history is not read
   */
  async read(waitingCalls: number): Promise<readonly string[]> {
    if (waitingCalls === 0 && (await this.#handle.describe()).state !== 'paused') return []
    const run: WaitingRun = await this.#handle.tree()
    return run.waitsFor.flatMap((wait) => {
      const key = wait.type === 'budget' ? `budget ${wait.since}` : wait.token
      if (this.#shown.has(key)) return []
      this.#shown.add(key)
      return waitLine(run, wait, sinceTime(wait.since), 10_000).map((line) => line.map(({ text }) => text).join(''))
    })
  }
}
