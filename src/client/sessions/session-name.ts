import { namedSessionId } from '../../common/names.js'
import { checkName } from '../start/check-name.js'

/** Returns the id of the workflow that owns a session. @throws PtcError RUN_INPUT_INVALID */
export function sessionWorkflowId(taskQueue: string, name: string): string {
  checkName('session', name)
  return namedSessionId(taskQueue, name)
}

/** Returns the name of the session from the id of its workflow. */
export function sessionName(workflowId: string): string {
  return workflowId.slice(workflowId.lastIndexOf(':') + 1)
}
