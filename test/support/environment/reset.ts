import { randomUUID } from 'node:crypto'
import type { WorkflowHandle } from '@temporalio/client'
import { sharedServer } from '../temporal/shared-server.js'
import type { TestEnvironment } from './test-environment.js'

/** Resets a run to the moment of its first call of this tool. */
export async function resetToCall(
  env: Pick<TestEnvironment, 'client' | 'history'>,
  { workflowId }: WorkflowHandle,
  name: string,
): Promise<void> {
  const { events } = await env.history(env.client.workflow.getHandle(workflowId))
  const call = events.findIndex((event) => event.activityTaskScheduledEventAttributes?.activityType?.name === name)
  const task = events.slice(0, call).findLast((event) => event.workflowTaskCompletedEventAttributes)
  const workflowTaskFinishEventId = task?.eventId ?? null
  const { namespace } = sharedServer()
  await env.client.workflowService.resetWorkflowExecution({
    namespace,
    workflowExecution: { workflowId },
    workflowTaskFinishEventId,
    requestId: randomUUID(),
    reason: 'test',
  })
}
