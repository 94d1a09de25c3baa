import { getClient } from '@temporalio/activity'
import type { Workflow } from '@temporalio/common'
import { defined } from '../../common/defined.js'
import { toolLimitMessages, toolLimitWorkflow } from '../../common/names.js'
import type { RequestSlotInput, SlotRequest, ToolLimitInput } from '../../common/calls/tool-slots.js'
import { lockOf } from '../../tools/calls/lock-of.js'
import { type ActivityParts, runActivity } from '../run-activity.js'
import { loadArguments } from './prepare-arguments.js'

/**
 * Activity `tool.slot`: sends the request of a call for a slot to the limiter of its tool. Starts the limiter if it
 * does not run. Limit and lock are from this worker's configuration, so that a deployment also changes them for earlier
 * runs.
 *
 * @throws PtcError of `lockOf`, and errors of the value store
 */
export function requestSlot({ registry, values }: Pick<ActivityParts, 'registry' | 'values'>) {
  return ({ tool, limiter, taskQueue, request, locked }: RequestSlotInput): Promise<void> =>
    runActivity(async ({ signal }) => {
      const slots = registry.get(tool)?.concurrency ?? request.slots
      const lock = locked && (await lockOf(registry, tool, await loadArguments(values, locked, signal)))
      await getClient().workflow.signalWithStart<(input: ToolLimitInput) => ReturnType<Workflow>, [SlotRequest]>(
        toolLimitWorkflow,
        {
          workflowId: limiter,
          taskQueue,
          args: [{ tool }],
          signal: toolLimitMessages.request,
          signalArgs: [{ ...request, slots, ...defined({ lock }) }],
          staticSummary: `concurrent calls of ${tool}`,
        },
      )
    })
}
