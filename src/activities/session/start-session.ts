import { getClient } from '@temporalio/activity'
import type { Workflow } from '@temporalio/common'
import { failpoint } from '../../common/failpoint.js'
import { memoKeys, workflowNames } from '../../common/names.js'
import type { SessionInput } from '../../common/session/session.js'
import type { StartSessionInput } from '../../common/session/shared-cells.js'
import { runActivity } from '../run-activity.js'

/**
 * Activity `session.start`: starts a named session for a run, unless a session with this name runs. Returns the run id
 * of the session.
 */
export function startSession() {
  return ({ workflowId, taskQueue, session }: StartSessionInput): Promise<string> =>
    runActivity(async () => {
      const summary = `session ${session.name}`
      const { firstExecutionRunId } = await getClient().workflow.start<(input: SessionInput) => ReturnType<Workflow>>(
        workflowNames.session,
        {
          workflowId,
          taskQueue,
          args: [session],
          workflowIdConflictPolicy: 'USE_EXISTING',
          staticSummary: summary,
          memo: { [memoKeys.summary]: summary },
        },
      )
      failpoint('session.started')
      return firstExecutionRunId
    })
}
