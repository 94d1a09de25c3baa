import { PtcError } from '../../common/errors.js'

/**
 * The id of the workflow that owns a session. It contains the task queue: projects with different task queues in one
 * namespace can use the same session names. The part after the last colon is the name, which contains no colon.
 *
 * @throws PtcError RUN_INPUT_INVALID
 */
export function sessionWorkflowId(taskQueue: string, name: string): string {
  checkSessionName(name)
  return `session:${taskQueue}:${name}`
}

/** @throws PtcError RUN_INPUT_INVALID */
export function checkSessionName(name: string): void {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(name)) return
  throw new PtcError('RUN_INPUT_INVALID', `${JSON.stringify(name)} can't be the name of a session`, {
    hint: 'A name has 1 to 100 letters, digits, dots, dashes and underscores, and begins with a letter or digit.',
  })
}

export interface WorkflowExecution {
  readonly workflowId: string
  readonly runId: string
}

/** The name of the session, from the id of its workflow. */
export function sessionName(workflowId: string): string {
  return workflowId.slice(workflowId.lastIndexOf(':') + 1)
}
