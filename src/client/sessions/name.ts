import { PtcError } from '../../common/errors.js'

/**
 * The id of the workflow that owns a session. It contains the task queue: two projects in one namespace have two
 * sessions, even when their names are the same. The part after the last colon is the name: a name contains no colon.
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

export interface Located {
  readonly workflowId: string
  readonly runId: string
}

/** The name of the session that a workflow owns. */
export function sessionName(workflowId: string): string {
  return workflowId.slice(workflowId.lastIndexOf(':') + 1)
}
