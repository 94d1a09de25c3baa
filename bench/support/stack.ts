import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client, Connection } from '@temporalio/client'
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Worker } from '@temporalio/worker'
import {
  installRuntime,
  loadConfig,
  startDevServer,
  startWorker,
  type TemporalServer,
} from '../../dist/worker/index.js'
import type { Role } from '../../dist/common/names.js'
import type { BenchContext } from './benchmark.js'

/** The configuration every benchmark runs with. */
export const configFile = fileURLToPath(new URL('../bench.config.ts', import.meta.url))

/** The task queue of the bare activities; ours is in the configuration. */
export const bareQueue = 'bare'

export interface Stack {
  readonly server: TemporalServer
  readonly client: Client
  readonly taskQueue: string
  /** For what workers keep outside of histories; gone with the stack. */
  readonly valuesDirectory: string
}

/** A Temporal dev server of its own with a database file, and a client. No worker yet. */
export async function startServer({ tell, atEnd, signal }: BenchContext): Promise<Stack> {
  // Only with connections to come: the process would not end before one has been closed.
  installRuntime('ERROR', ({ level, message }) => process.stderr.write(`${level} ${message}\n`))
  const stateDirectory = await mkdtemp(join(tmpdir(), 'ptc-bench-'))
  atEnd(() => rm(stateDirectory, { recursive: true, force: true }))
  // Nothing of TEMPORAL_*: what a benchmark floods must not be anybody's server.
  const server = await startDevServer({ stateDirectory, onProgress: tell, signal })
  atEnd(() => server.close())
  const connection = await Connection.connect(server.connectionOptions)
  atEnd(() => connection.close())
  const { taskQueue } = await loadConfig(configFile)
  const client = new Client({ connection, namespace: server.namespace })
  return { server, client, taskQueue, valuesDirectory: join(stateDirectory, 'values') }
}

/**
 * The whole thing in this process: our worker with all it needs to run programs, and beside it one for bare activities.
 *
 * @param warm containers the worker keeps started
 * @param roles of the worker
 */
export async function startStack(
  context: BenchContext,
  warm = 0,
  roles: readonly Role[] = ['workflow', 'tools', 'sandbox'],
): Promise<Stack> {
  const { tell, atEnd } = context
  const stack = await startServer(context)
  const { server, valuesDirectory: directory } = stack
  const configured = await loadConfig(configFile)
  const values = { ...configured.values, store: { kind: 'local', directory } as const }
  const worker = await startWorker({ config: { ...configured, values }, server, roles, warm, onProgress: tell })
  atEnd(() => worker.shutdown())
  await startBareWorker(server, context)
  return stack
}

async function startBareWorker(server: TemporalServer, { atEnd }: BenchContext): Promise<void> {
  const connection = await NativeConnection.connect(server.connectionOptions)
  atEnd(() => connection.close())
  const worker = await Worker.create({
    connection,
    namespace: server.namespace,
    taskQueue: bareQueue,
    workflowBundle: await bundleWorkflowCode({
      workflowsPath: fileURLToPath(new URL('../workflows/bare.ts', import.meta.url)),
      logger: new DefaultLogger('ERROR'),
    }),
    activities: { noop: (value: number) => Promise.resolve(value) },
    // As our worker has it for tools, else the comparison would be one of slots.
    maxConcurrentActivityTaskExecutions: 200,
  })
  const ended = worker.run()
  atEnd(async () => {
    worker.shutdown()
    await ended
  })
}
