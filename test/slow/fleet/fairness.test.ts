import { expect, it, onTestFinished } from 'vitest'
import { createPtcClient } from '../../../src/client/index.js'
import { describeTaskQueue } from '../../../src/client/workers/task-queue.js'
import { pollOptions } from '../../support/poll-options.js'
import { PostgresTemporal, postgresTemporalBinaries } from '../../support/temporal/postgres-temporal.js'
import { connectClient } from '../../support/temporal/shared-server.js'

const temporal = await postgresTemporalBinaries

it.skipIf(!temporal)('a run does not wait behind the earlier runs of another tenant', async () => {
  const server = await PostgresTemporal.start()
  const client = await connectClient(undefined, server.address)
  onTestFinished(() => client.connection.close())
  const taskQueue = 'fair'
  const ptc = createPtcClient({ client, taskQueue })
  const start = (tenant: string) =>
    ptc.startProgram({ source: 'pass' }, { workflowId: tenant, priority: { fairnessKey: tenant.split('-')[0] ?? '' } })
  const busy = 80
  await Promise.all(Array.from({ length: busy }, (_, number) => start(`busy-${number}`)))
  await start('late')

  const { namespace } = client.options
  // The server adds a started run to the task queue a moment later.
  await expect.poll(async () => (await describeTaskQueue(client, taskQueue, 'workflow')).backlog).toBe(busy + 1)
  const poll = { namespace, taskQueue: { name: taskQueue }, identity: 'test' }
  const order: string[] = []
  while (order.at(-1) !== 'late') {
    const { workflowExecution } = await client.withDeadline(Date.now() + pollOptions.timeout, () =>
      client.workflowService.pollWorkflowTaskQueue(poll),
    )
    order.push(workflowExecution?.workflowId ?? '')
  }
  // The task queue has four partitions, each with its own order.
  expect(order.length).toBeLessThan(busy / 2)
})
