import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Client, Connection } from '@temporalio/client'
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Worker } from '@temporalio/worker'
import { startDevServer, type TemporalServer } from '../../dist/dev-server/index.js'
import { readServerRecord } from '../../dist/dev-server/running-server.js'
import { installRuntime, loadConfig, startWorker, type StartWorkerOptions } from '../../dist/worker/index.js'
import type { Role } from '../../dist/common/names.js'
import type { BenchContext } from './benchmark.js'

/** The configuration of every benchmark. */
export const configFile = fileURLToPath(new URL('../bench.config.ts', import.meta.url))

/** Task queue of the bare activities. The configuration has the task queue of this package's worker. */
export const bareQueue = 'bare'

export interface Stack {
  readonly server: TemporalServer
  /** Id of the process group of the server. */
  readonly serverGroup: number
  readonly client: Client
  readonly taskQueue: string
  /** Folder of the server's database and of files of a benchmark, deleted with the stack. */
  readonly directory: string
  /** Folder of the value store, in `directory`. */
  readonly valuesDirectory: string
}

/** Starts a Temporal dev server with a database file, and a client. No worker. */
export async function startServer({ progress, defer, signal }: BenchContext): Promise<Stack> {
  const directory = await mkdtemp(join(tmpdir(), 'ptc-bench-'))
  defer(() => rm(directory, { recursive: true, force: true }))
  // Without TEMPORAL_*: a benchmark must not load a configured server.
  const server = await startDevServer({ stateDirectory: directory, onProgress: progress, signal })
  defer(() => server.close())
  const record = await readServerRecord(directory)
  if (record === undefined) throw new Error('the server has written no record of its process')
  const connection = await Connection.connect(server.connectionOptions)
  defer(() => connection.close())
  const { taskQueue } = await loadConfig(configFile)
  const client = new Client({ connection, namespace: server.namespace })
  const valuesDirectory = join(directory, 'values')
  return { server, serverGroup: record.pid, client, taskQueue, directory, valuesDirectory }
}

/**
 * Starts this package's worker and a worker for bare activities in this process. Default: no model, no idle containers.
 */
export async function startStack(
  context: BenchContext,
  {
    configFile: file = configFile,
    ...options
  }: Pick<StartWorkerOptions, 'warm' | 'roles' | 'modelApi'> & { readonly configFile?: string } = {},
): Promise<Stack> {
  const { progress, defer } = context
  // Not in `startServer`: without a worker's connection that closes, the runtime keeps the process alive.
  installRuntime('ERROR', ({ level, message }) => process.stderr.write(`${level} ${message}\n`))
  const stack = await startServer(context)
  const { server, valuesDirectory: directory } = stack
  const configured = await loadConfig(file)
  const values = { ...configured.values, store: { kind: 'local', directory } as const }
  const roles: readonly Role[] = ['workflow', 'tools', 'sandbox']
  const config = { ...configured, values }
  const worker = await startWorker({ roles, ...options, config, server, onProgress: progress })
  defer(() => worker.shutdown())
  await startBareWorker(server, context)
  return stack
}

async function startBareWorker(server: TemporalServer, { defer }: BenchContext): Promise<void> {
  const connection = await NativeConnection.connect(server.connectionOptions)
  defer(() => connection.close())
  const worker = await Worker.create({
    connection,
    namespace: server.namespace,
    taskQueue: bareQueue,
    workflowBundle: await bundleWorkflowCode({
      workflowsPath: fileURLToPath(new URL('../workflows/bare.ts', import.meta.url)),
      logger: new DefaultLogger('ERROR'),
    }),
    activities: { noop: (value: number) => Promise.resolve(value), work: () => pause(20) },
    // This package's worker has the same number of slots for tools.
    maxConcurrentActivityTaskExecutions: 200,
  })
  const ended = worker.run()
  defer(async () => {
    worker.shutdown()
    await ended
  })
}
