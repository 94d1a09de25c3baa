import { loadClientConnectConfig } from '@temporalio/envconfig'
import { NativeConnection, Worker } from '@temporalio/worker'
import { PtcPlugin } from 'durable-ptc/worker'
import { taskQueue } from './task-queue.js'
import { approvePayment } from './tools.js'

const ptc = new PtcPlugin({ tools: [approvePayment] })

const { connectionOptions, namespace = 'default' } = loadClientConnectConfig()
const connection = await NativeConnection.connect({ ...connectionOptions, plugins: [ptc] })
try {
  const worker = await Worker.create({ connection, namespace, taskQueue })
  await worker.run()
} finally {
  await connection.close()
}
