import { checkName } from '../start/check-name.js'

/**
 * The id of the workflow that owns a session. It contains the task queue: projects with different task queues in one
 * namespace can use the same session names. The part after the last colon is the name, which contains no colon.
 *
 * @throws PtcError RUN_INPUT_INVALID
 */
export function sessionWorkflowId(taskQueue: string, name: string): string {
  checkName('session', name)
  return `session:${taskQueue}:${name}`
}

export interface WorkflowExecution {
  readonly workflowId: string
  readonly runId: string
}

/** The name of the session, from the id of its workflow. */
export function sessionName(workflowId: string): string {
  return workflowId.slice(workflowId.lastIndexOf(':') + 1)
}
