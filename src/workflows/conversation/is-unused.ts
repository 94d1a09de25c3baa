import { condition } from '@temporalio/workflow'

/**
 * Waits until the conversation has something to do, or until a time at which it counts as unused.
 *
 * @param unusedAt milliseconds since the epoch; `Infinity`: never. In that case the caller gets Temporal's own promise:
 *   histories without the time replay in the same order
 */
export function isUnused(isReady: () => boolean, unusedAt: number): Promise<boolean | void> {
  if (!Number.isFinite(unusedAt)) return condition(isReady)
  const leftMs = Math.max(unusedAt - Date.now(), 1)
  return condition(isReady, leftMs, { summary: 'close the unused conversation' }).then(
    (isInTime) => !isInTime && !isReady(),
  )
}
