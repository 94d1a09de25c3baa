// A minimal workflow worker: `node workflow-worker.mjs prebuilt|bundling|bare ADDRESS NAMESPACE QUEUE`.
import { fileURLToPath } from 'node:url'
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker'

const [way, address, namespace, taskQueue] = process.argv.slice(2)
const path = (relative) => fileURLToPath(new URL(relative, import.meta.url))
const logger = new DefaultLogger('ERROR')
const ways = {
  prebuilt: { workflowBundle: { codePath: path('../../dist/workflow-bundle.js') } },
  bundling: { workflowsPath: path('../../dist/workflows/index.js') },
  bare: {
    workflowsPath: path('../workflows/bare.ts'),
    bundlerOptions: { logger },
    activities: {
      noop: (value) => Promise.resolve(value),
      gate: async (name) => void (await (await fetch(`${process.env.BENCH_URL}/gate/${name}`)).text()),
    },
    // This package's worker has the same number of slots for tools.
    maxConcurrentActivityTaskExecutions: 200,
  },
}
Runtime.install({ logger })
const connection = await NativeConnection.connect({ address })
const worker = await Worker.create({ connection, namespace, taskQueue, ...ways[way] })
await worker.run()
await connection.close()
