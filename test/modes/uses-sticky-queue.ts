import type { History } from '../support/environment/histories.js'

/** TASK_QUEUE_KIND_STICKY: the task goes to the worker that remembers the workflow, with what is new only. */
const sticky = 2

/** Did the server ever count on a worker that remembers this run? If not, each workflow task began at the beginning. */
export function usesStickyQueue({ events }: History): boolean {
  const kinds: readonly number[] = events.flatMap((event) => {
    return event.workflowTaskScheduledEventAttributes?.taskQueue?.kind ?? []
  })
  return kinds.includes(sticky)
}
