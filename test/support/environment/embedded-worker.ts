import { Client } from '@temporalio/client'
import { NativeConnection, type NativeConnectionOptions, Worker, type WorkerOptions } from '@temporalio/worker'
import { onTestFinished } from 'vitest'
import { PtcPlugin, type PtcPluginOptions } from '../../../src/worker/plugin/index.js'
import { temporaryFolder } from '../folders.js'
import { sharedServer, uniqueName } from '../temporal/shared-server.js'
import { tool } from '../tools.js'
import './install-runtime.js'

/** The tool of {@link createPlugin}. */
export const plus = tool('plus', ({ a, b }) => Number(a) + Number(b))

/** A plugin with the embedded sandbox, its own value store and its own host. */
export async function createPlugin(options: Partial<PtcPluginOptions> = {}): Promise<PtcPlugin> {
  const directory = await temporaryFolder()
  return new PtcPlugin({
    tools: [plus],
    sandbox: { backend: 'wasm', warm: 0 },
    values: { store: { kind: 'local', directory } },
    hostId: uniqueName('host'),
    ...options,
  })
}

/** A connection that is closed after the test. */
export async function connect(options: Pick<NativeConnectionOptions, 'plugins'> = {}): Promise<NativeConnection> {
  const connection = await NativeConnection.connect({ address: sharedServer().address, ...options })
  onTestFinished(() => connection.close())
  return connection
}

/** A worker of a user on the shared server. */
export async function createWorker(options: Omit<WorkerOptions, 'namespace'>): Promise<Worker> {
  return Worker.create({ namespace: sharedServer().namespace, ...options })
}

/** A client on the connection of a worker. */
export function clientOf(connection: NativeConnection, plugins: PtcPlugin[] = []): Client {
  return new Client({ connection, namespace: sharedServer().namespace, plugins })
}
