/*
 * The server lists open runs before closed ones, and closed ones by the time of their end. The newest runs are found by
 * windows of time, from now back into the past.
 */

/** Runs with a start from `from` on, and before `to`. Milliseconds since the epoch; undefined: unbounded. */
export interface StartWindow {
  readonly from?: number
  readonly to?: number
}

/** Reads runs by the start of their latest execution. */
interface RunSource<Run> {
  count(window: StartWindow): Promise<number>
  list(window: StartWindow): AsyncIterable<Run>
}

/** Minimum number of runs in a batch. */
const defaultBatch = 1_000
const firstWindowMs = 60_000
/** Runs that began within this time are all read, even if they are more than a batch. */
const minWindowMs = 1_000
const windowFactor = 4

/**
 * Returns the runs that began last, the newest first.
 *
 * @param isWanted selects the runs; others are read and left out
 */
export async function newestRuns<Run extends { readonly startedAt: Date }>(
  source: RunSource<Run>,
  { limit, now, isWanted = () => true }: { limit: number; now: number; isWanted?: (run: Run) => boolean },
): Promise<readonly Run[]> {
  const batch = Math.max(defaultBatch, limit)
  const found: Run[] = []
  const read = async (window: StartWindow): Promise<void> => {
    for await (const run of source.list(window)) if (isWanted(run)) found.push(run)
  }
  const newest = (): readonly Run[] =>
    found.toSorted((one, other) => other.startedAt.getTime() - one.startedAt.getTime()).slice(0, limit)
  let left = await source.count({})
  if (left <= batch) {
    await read({})
    return newest()
  }
  let to: number | undefined
  let windowMs = firstWindowMs
  while (left > 0) {
    const from = (to ?? now) - windowMs
    const window = to === undefined ? { from } : { from, to }
    const isFirst = from <= 0
    const count = isFirst ? left : await source.count(window)
    if (count > batch && windowMs > minWindowMs && !isFirst) {
      windowMs = Math.max(windowMs / windowFactor, minWindowMs)
      continue
    }
    if (count > 0) await read(isFirst && to !== undefined ? { to } : window)
    left -= count
    // A run that was continued as new began before its latest execution. All others began before the window.
    if (isFirst || found.filter(({ startedAt }) => startedAt.getTime() >= from).length >= limit) break
    to = from
    if (count * windowFactor <= batch) windowMs *= windowFactor
  }
  return newest()
}
