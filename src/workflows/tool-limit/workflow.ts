import { condition, defineSignal, makeContinueAsNewFunc, workflowInfo } from '@temporalio/workflow'
import { toolLimitMessages } from '../../common/names.js'
import type { SlotRelease, SlotRequest, ToolLimitInput } from '../../common/calls/tool-slots.js'
import { failWorkflowOnError, handleSignal } from '../temporal/failures.js'
import { ToolLimit } from './tool-limit.js'

const request = defineSignal<[SlotRequest]>(toolLimitMessages.request)
const release = defineSignal<[SlotRelease]>(toolLimitMessages.release)

/** The workflow ends after this time without a call. The next request starts another one. */
const idleMs = 60_000

/** A call takes about ten events. */
const maxEvents = 2_000

/**
 * Workflow `toolLimit`: limits the concurrent calls of one tool over all runs of a task queue, or those of tools that
 * share their locks. `tool-limit.ts` has the invariants.
 */
export async function toolLimit({ tool, state }: ToolLimitInput): Promise<void> {
  return failWorkflowOnError(async () => {
    const limit = new ToolLimit(state)
    handleSignal(request, (input) => limit.request(input))
    handleSignal(release, (input) => limit.release(input))
    for (;;) {
      await condition(() => limit.isIdle || isContinueAsNewDue(limit))
      if (isContinueAsNewDue(limit)) {
        const isUpgraded = workflowInfo().targetWorkerDeploymentVersionChanged
        const options = isUpgraded ? ({ initialVersioningBehavior: 'AUTO_UPGRADE' } as const) : {}
        return makeContinueAsNewFunc<typeof toolLimit>(options)({ tool, state: limit.state })
      }
      const isUsed = await condition(() => !limit.isIdle, idleMs, { summary: 'end the idle workflow' })
      if (!isUsed && limit.isIdle) return
    }
  })
}

/**
 * Requires a grant in this execution, so that each execution makes progress, even when the server pins all of them to
 * an old version.
 */
function isContinueAsNewDue({ hasGranted }: ToolLimit): boolean {
  const { historyLength, continueAsNewSuggested, targetWorkerDeploymentVersionChanged } = workflowInfo()
  if (!hasGranted) return false
  return historyLength >= maxEvents || continueAsNewSuggested || targetWorkerDeploymentVersionChanged
}
