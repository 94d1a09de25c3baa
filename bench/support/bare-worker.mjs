// A worker with the bare workflows and their activities: `node bare-worker.mjs ADDRESS NAMESPACE QUEUE`.
import { fileURLToPath } from 'node:url'
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker'

const [address, namespace, taskQueue] = process.argv.slice(2)
const logger = new DefaultLogger('ERROR')
Runtime.install({ logger })
const connection = await NativeConnection.connect({ address })
const worker = await Worker.create({
  connection,
  namespace,
  taskQueue,
  workflowsPath: fileURLToPath(new URL('../workflows/bare.ts', import.meta.url)),
  bundlerOptions: { logger },
  activities: {
    noop: (value) => Promise.resolve(value),
    gate: async (name) => void (await (await fetch(`${process.env.BENCH_URL}/gate/${name}`)).text()),
  },
  // This package's worker has the same number of slots for tools.
  maxConcurrentActivityTaskExecutions: 200,
})
await worker.run()
await connection.close()
