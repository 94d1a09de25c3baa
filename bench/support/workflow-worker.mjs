// A minimal workflow worker: `node workflow-worker.mjs prebuilt|bundling ADDRESS NAMESPACE QUEUE`.
import { fileURLToPath } from 'node:url'
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker'

const [way, address, namespace, taskQueue] = process.argv.slice(2)
const path = (relative) => fileURLToPath(new URL(`../../dist/${relative}`, import.meta.url))
const workflows = {
  prebuilt: { workflowBundle: { codePath: path('workflow-bundle.js') } },
  bundling: { workflowsPath: path('workflows/index.js') },
}
Runtime.install({ logger: new DefaultLogger('ERROR') })
const connection = await NativeConnection.connect({ address })
const worker = await Worker.create({ connection, namespace, taskQueue, ...workflows[way] })
await worker.run()
await connection.close()
