import type { History } from '../support/environment/histories.js'

/** TASK_QUEUE_KIND_STICKY: the worker with the cached workflow gets the task, with only the new events. */
const sticky = 2

/** Whether the server ever used a sticky queue for this run. If not, each workflow task replayed its history. */
export function usesStickyQueue({ events }: History): boolean {
  const kinds: readonly number[] = events.flatMap((event) => {
    return event.workflowTaskScheduledEventAttributes?.taskQueue?.kind ?? []
  })
  return kinds.includes(sticky)
}
