import { randomUUID } from 'node:crypto'
import { Client, Connection } from '@temporalio/client'
import { loadClientConnectConfig } from '@temporalio/envconfig'
import type { restock } from './workflows.js'

const { connectionOptions, namespace = 'default' } = loadClientConnectConfig()
const connection = await Connection.connect(connectionOptions)
const client = new Client({ connection, namespace })
const workflowId = `restock-${randomUUID()}`
const orders = await client.workflow.execute<typeof restock>('restock', { taskQueue: 'orders', workflowId, args: [] })
console.log(orders.join('\n'))
await connection.close()
