import type { RunHandle } from '../../client/run/run-handle.js'
import { withNestedWaits } from '../../client/calls/nested-waits.js'
import type { PtcClient } from '../../client/index.js'
import type { ConversationStatus } from '../../common/conversation/conversation.js'
import { sinceTime, waitLine } from '../rendering/text/waits.js'

/** How often the history is read for what only the runs of sub-agents have: the status does not say it. */
const lookMs = 15_000

/** Prints once what a conversation waits for, and the command that continues it. */
export class ShownWaits {
  readonly #ptc: Pick<PtcClient, 'handle'>
  readonly #handle: Pick<RunHandle<unknown>, 'describe' | 'tree'>
  readonly #shown = new Set<string>()
  /** The waits in the history when it was read last. A wait may take days, and the history is long. */
  #read = ''
  #lookedAt = Date.now()

  /** @param ptc reads what sub-agents wait for */
  constructor(ptc: Pick<PtcClient, 'handle'>, handle: Pick<RunHandle<unknown>, 'describe' | 'tree'>) {
    this.#ptc = ptc
    this.#handle = handle
  }

  /**
   * Returns the new lines.
   *
   * @param status of the conversation: its history is read when this says that something else waits, and now and then
   */
  async read({
    waitingCalls,
    toolCalls,
  }: Pick<ConversationStatus, 'waitingCalls' | 'toolCalls'>): Promise<readonly string[]> {
    const isPaused = waitingCalls === 0 && (await this.#handle.describe()).state === 'paused'
    const waits = isPaused ? 'paused' : waitingCalls === 0 ? '' : `${waitingCalls} of ${toolCalls}`
    const isNew = waits !== this.#read && waits !== ''
    if (waits === '') this.#read = waits
    if (!isNew && Date.now() - this.#lookedAt < lookMs) return []
    this.#lookedAt = Date.now()
    const tree = await this.#handle.tree()
    // The history may not have all of them yet.
    if (isNew && tree.waitsFor.length >= Math.max(waitingCalls, 1)) this.#read = waits
    const run = await withNestedWaits(this.#ptc, tree)
    return run.waitsFor.flatMap((wait) => {
      const key = wait.type === 'budget' ? `budget ${wait.since}` : wait.token
      if (this.#shown.has(key)) return []
      this.#shown.add(key)
      return waitLine(run, wait, sinceTime(wait.since), 10_000).map((line) => line.map(({ text }) => text).join(''))
    })
  }
}
