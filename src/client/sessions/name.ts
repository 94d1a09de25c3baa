import { PtcError } from '../../common/errors.js'

const prefix = 'session-'

/**
 * The id of the workflow that owns a session.
 *
 * @throws PtcError RUN_INPUT_INVALID
 */
export function sessionWorkflowId(name: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(name)) return `${prefix}${name}`
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
  return workflowId.slice(prefix.length)
}
