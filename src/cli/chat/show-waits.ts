import type { WaitOfRun } from '../../client/index.js'
import { sinceTime, waitLine } from '../rendering/text/waits.js'

/**
 * Returns lines about what a conversation waits for, with the commands that continue it: each wait once.
 *
 * @param shown the waits that have had their lines; this function adds to it
 */
export function newWaitLines(waits: readonly WaitOfRun[], shown: Set<string>): readonly string[] {
  const waitsFor = waits.map(({ wait }) => wait)
  return waits.flatMap(({ run: { workflowId }, wait }) => {
    const key = wait.type === 'budget' ? `budget ${wait.since}` : wait.token
    if (shown.has(key)) return []
    shown.add(key)
    return waitLine({ workflowId, waitsFor }, wait, sinceTime(wait.since), 10_000).map((line) =>
      line.map(({ text }) => text).join(''),
    )
  })
}
