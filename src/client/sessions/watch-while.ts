import type { RunTree } from '../run-tree/index.js'

type Report = (tree: RunTree) => void

/**
 * Performs the work, and watches it meanwhile if there is a function that gets the reports.
 *
 * @param watch must never reject, and must end when the signal is aborted
 */
export async function watchWhile<Result>(
  report: Report | undefined,
  watch: (report: Report, signal: AbortSignal) => Promise<void>,
  work: () => Promise<Result>,
): Promise<Result> {
  if (report === undefined) return work()
  const finished = new AbortController()
  const watching = watch(report, finished.signal)
  try {
    return await work()
  } finally {
    finished.abort()
    await watching
  }
}
