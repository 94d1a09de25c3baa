import { fileURLToPath } from 'node:url'
import { loadClientConnectConfig } from '@temporalio/envconfig'
import { NativeConnection, Worker } from '@temporalio/worker'
import { PtcPlugin } from 'durable-ptc/worker'
import { taskQueue } from './task-queue.js'
import { incidentsOf, salesOf } from './tools.js'

const ptc = new PtcPlugin({ tools: [salesOf, incidentsOf] })

const { connectionOptions, namespace = 'default' } = loadClientConnectConfig()
const connection = await NativeConnection.connect({ ...connectionOptions, plugins: [ptc] })
try {
  const worker = await Worker.create({
    connection,
    namespace,
    taskQueue,
    workflowsPath: fileURLToPath(new URL('workflows.js', import.meta.url)),
  })
  await worker.run()
} finally {
  await connection.close()
}
