import { randomUUID } from 'node:crypto'
import { Client, Connection } from '@temporalio/client'
import { loadClientConnectConfig } from '@temporalio/envconfig'
import { taskQueue } from './task-queue.js'
import type { explainDrops } from './workflows.js'

const { connectionOptions, namespace = 'default' } = loadClientConnectConfig()
const connection = await Connection.connect(connectionOptions)
try {
  const client = new Client({ connection, namespace })
  const reasons = await client.workflow.execute<typeof explainDrops>('explainDrops', {
    taskQueue,
    workflowId: `explain-drops-${randomUUID()}`,
    args: [['berlin', 'lyon', 'porto']],
  })
  console.log(reasons.join('\n'))
} finally {
  await connection.close()
}
