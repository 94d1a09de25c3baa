import type { BudgetPause } from '../../common/budget/budget.js'
import type { BudgetScope } from './budget.js'
import { showProgress } from './progress.js'
import type { Run } from './run.js'
import { announcePause } from '../temporal/activities.js'
import { recordPause } from './memo.js'
import { publishStatus } from './search-attributes.js'

/**
 * Pauses while the budget is spent.
 *
 * @param isInterrupted ends the pause
 * @param scope the items that the run waits for: all of them before a turn, and others inside of a turn
 * @returns false when the turns must end: a spent budget ends them, or they were interrupted
 */
export async function waitForBudget(
  run: Run,
  isInterrupted: () => boolean,
  scope: BudgetScope = 'spent',
): Promise<boolean> {
  const { budget } = run
  let last: BudgetPause | undefined
  for (let item = budget[scope]; item !== undefined; item = budget[scope]) {
    if (!budget.pauses || isInterrupted()) return false
    const pause = budget.pauseAt(item, last)
    showProgress(run, { type: 'paused', reason: budget.describe(item), item })
    publishStatus(run, 'paused')
    recordPause(run, pause)
    // The live stream is only for viewers, so its failure does not matter.
    void announcePause(pause, run.config.timeouts).catch(() => undefined)
    await budget.waitUntilRaised(pause, isInterrupted, scope)
    recordPause(run, null)
    last = pause
  }
  publishStatus(run, 'running')
  return true
}
