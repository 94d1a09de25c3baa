import { expect } from 'vitest'
import { isWorkflowRunning, sandboxOwner } from '../../../src/worker/resources/sandbox-owner.js'
import { temporalTest } from '../../support/temporal/shared-server.js'

temporalTest(
  'a workflow is running until it is closed; one that never existed is not',
  async ({ client, nativeConnection, server, taskQueue, workflowId }) => {
    const { namespace } = server
    expect(await isWorkflowRunning(nativeConnection, namespace, workflowId)).toBe(false)
    const handle = await client.workflow.start('agent', {
      workflowId,
      taskQueue,
      args: [{ question: 'nobody serves this' }],
    })
    expect(await isWorkflowRunning(nativeConnection, namespace, workflowId)).toBe(true)
    await handle.terminate()
    expect(await isWorkflowRunning(nativeConnection, namespace, workflowId)).toBe(false)
  },
)

temporalTest('the owner of sandboxes is one namespace of one server', async ({ nativeConnection, server }) => {
  const owner = await sandboxOwner(nativeConnection, server.namespace)
  expect(owner).toMatch(/^default\.[0-9a-f-]{36}$/)
  expect(await sandboxOwner(nativeConnection, server.namespace)).toBe(owner)
})
