import type { RunHandle } from '../../client/run/run-handle.js'
import type { ConversationStatus } from '../../common/runs/conversation.js'
import { sinceTime, waitLine, type WaitingRun } from '../rendering/text/waits.js'

/** Prints once what a conversation waits for, and the command that continues it. */
export class ShownWaits {
  readonly #handle: Pick<RunHandle<unknown>, 'describe' | 'tree'>
  readonly #shown = new Set<string>()
  /** The waits in the history when it was read last. A wait may take days, and the history is long. */
  #read = ''

  constructor(handle: Pick<RunHandle<unknown>, 'describe' | 'tree'>) {
    this.#handle = handle
  }

  /**
   * Returns the new lines.
   *
   * @param status of the conversation: its history is read only when the status has another wait
   */
  async read({
    waitingCalls,
    toolCalls,
  }: Pick<ConversationStatus, 'waitingCalls' | 'toolCalls'>): Promise<readonly string[]> {
    const isPaused = waitingCalls === 0 && (await this.#handle.describe()).state === 'paused'
    const waits = isPaused ? 'paused' : waitingCalls === 0 ? '' : `${waitingCalls} of ${toolCalls}`
    if (waits === this.#read) return []
    if (waits === '') {
      this.#read = waits
      return []
    }
    const run: WaitingRun = await this.#handle.tree()
    // The history may not have all waits yet.
    if (run.waitsFor.length >= Math.max(waitingCalls, 1)) this.#read = waits
    return run.waitsFor.flatMap((wait) => {
      const key = wait.type === 'budget' ? `budget ${wait.since}` : wait.token
      if (this.#shown.has(key)) return []
      this.#shown.add(key)
      return waitLine(run, wait, sinceTime(wait.since), 10_000).map((line) => line.map(({ text }) => text).join(''))
    })
  }
}
