import { showProgress } from '../progress.js'
import type { Run } from '../run.js'
import { publishStatus } from '../temporal/search-attributes.js'

/**
 * Pauses while the budget is spent.
 *
 * @param isInterrupted ends the pause
 * @returns false when the turns end: the budget is to end them, or they were interrupted
 */
export async function waitForBudget(run: Run, isInterrupted: () => boolean): Promise<boolean> {
  const { budget } = run
  for (let item = budget.spent; item !== undefined; item = budget.spent) {
    if (!budget.pauses || isInterrupted()) return false
    showProgress(run, { type: 'paused', reason: budget.describe(item) })
    publishStatus(run, 'paused')
    await budget.waitUntilRaised(item, isInterrupted)
  }
  publishStatus(run, 'running')
  return true
}
