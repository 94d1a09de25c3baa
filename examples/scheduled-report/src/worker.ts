import { fileURLToPath } from 'node:url'
import { loadClientConnectConfig } from '@temporalio/envconfig'
import { NativeConnection, Worker } from '@temporalio/worker'
import { PtcPlugin } from 'durable-ptc/worker'
import * as activities from './activities.js'
import { taskQueue } from './completion.js'
import { ordersOn } from './tools.js'

const ptc = new PtcPlugin({ tools: [ordersOn] })

const { connectionOptions, namespace = 'default' } = loadClientConnectConfig()
const connection = await NativeConnection.connect({ ...connectionOptions, plugins: [ptc] })
try {
  const worker = await Worker.create({
    connection,
    namespace,
    taskQueue,
    workflowsPath: fileURLToPath(new URL('workflows.js', import.meta.url)),
    activities,
  })
  await worker.run()
} finally {
  await connection.close()
}
