/*
 * Numbers of enums of Temporal's API. Their package is not a direct dependency. Temporal's types accept the numbers
 * only where a comment disables the lint rule.
 */

/** TASK_QUEUE_TYPE_* */
export const taskQueueTypes = { workflow: 1, activity: 2, nexus: 3 } as const

/** PENDING_ACTIVITY_STATE_* and PENDING_WORKFLOW_TASK_STATE_*; an activity between two attempts is scheduled. */
export const pendingStates = { scheduled: 1, started: 2 } as const

/** PENDING_NEXUS_OPERATION_STATE_STARTED: the operation runs, and completes asynchronously. */
export const nexusOperationStarted = 3

/** HISTORY_EVENT_FILTER_TYPE_CLOSE_EVENT */
export const closeEventFilter = 2

/**
 * WORKFLOW_TASK_FAILED_CAUSE_ UNHANDLED_COMMAND, RESET_STICKY_TASK_QUEUE, RESET_WORKFLOW, UNHANDLED_UPDATE: the next
 * workflow task succeeds.
 */
export const transientWorkflowTaskFailures: ReadonlySet<number> = new Set([1, 13, 20, 31])
