import type { WorkflowHandle } from '@temporalio/client'
import { expect } from 'vitest'
import type { ProcessEnvironment } from '../../support/environment/test-environment.js'
import { childWorkflowIds, executionHistories, expectReplays } from '../../support/environment/histories.js'

/** Expects that an agent, its two clones and the limiter of their tool replay, and ends the limiter. */
export async function expectLimitedRunsReplay(
  { client }: ProcessEnvironment,
  agent: WorkflowHandle,
  limiter: string,
): Promise<void> {
  const children = new Set(childWorkflowIds(await executionHistories(client, agent)))
  expect(children.size).toBe(2)
  for (const workflowId of [agent.workflowId, ...children, limiter])
    await expectReplays(client, client.workflow.getHandle(workflowId))
  await client.workflow
    .getHandle(limiter)
    .terminate('the test has ended')
    .catch(() => undefined)
}
