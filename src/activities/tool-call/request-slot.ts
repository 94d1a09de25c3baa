import { getClient } from '@temporalio/activity'
import type { Workflow } from '@temporalio/common'
import { toolLimitMessages, toolLimitWorkflow } from '../../common/names.js'
import type { RequestSlotInput, SlotRequest, ToolLimitInput } from '../../common/calls/tool-slots.js'
import { type ActivityParts, runActivity } from '../run-activity.js'

/**
 * Activity `tool.slot`: sends the request of a call for a slot to the limiter of its tool. Starts the limiter if it
 * does not run. The limit is from this worker's configuration, so that a deployment also changes it for earlier runs.
 */
export function requestSlot({ registry }: Pick<ActivityParts, 'registry'>) {
  return ({ tool, limiter, taskQueue, request }: RequestSlotInput): Promise<void> =>
    runActivity(async () => {
      const slots = registry.get(tool)?.concurrency ?? request.slots
      await getClient().workflow.signalWithStart<(input: ToolLimitInput) => ReturnType<Workflow>, [SlotRequest]>(
        toolLimitWorkflow,
        {
          workflowId: limiter,
          taskQueue,
          args: [{ tool }],
          signal: toolLimitMessages.request,
          signalArgs: [{ ...request, slots }],
          staticSummary: `concurrent calls of ${tool}`,
        },
      )
    })
}
