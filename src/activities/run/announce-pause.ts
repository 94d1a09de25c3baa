import type { BudgetPause } from '../../common/budget/budget.js'
import type { StreamPublisher } from '../../stream/index.js'
import { runActivity } from '../run-activity.js'

/** Activity `run.pause`: publishes in the live stream that the budget of a run is spent. */
export function announcePause(stream: StreamPublisher | undefined) {
  return (pause: BudgetPause): Promise<void> =>
    runActivity(({ workflowId, runId, attempt }) => {
      const { item, amount, since } = pause
      const publish = stream?.attempt({ workflowId, runId, attempt, unit: `pause/${since}` })
      publish?.({ type: 'budget.spent', item, ...(amount !== undefined && { amount }) })
      return Promise.resolve()
    })
}
