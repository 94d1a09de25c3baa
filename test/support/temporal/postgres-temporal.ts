import { execFile } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Connection } from '@temporalio/client'
import { onTestFinished } from 'vitest'
import { freePorts } from '../../../src/dev-server/free-ports.js'
import { probeNamespace } from '../../../src/dev-server/probe.js'
import { type SupervisedProcess, spawnSupervised } from '../../../src/dev-server/supervise.js'
import type { KillableServer } from './killable-server.js'
import { Postgres } from './postgres.js'
import { type TemporalServerBinaries, temporalServerBinaries } from './server-binaries.js'

const run = promisify(execFile)
const startMs = 120_000
const ip = '127.0.0.1'
const namespace = 'default'
const day = 86_400
const services = ['frontend', 'history', 'matching', 'worker'] as const
const databases = { temporal: 'postgresql/v12/temporal', temporal_visibility: 'postgresql/v12/visibility' } as const

/** Undefined when tests that need the server must be skipped. */
export const postgresTemporalBinaries = temporalServerBinaries()

/** A production-like Temporal server on PostgreSQL; both can be killed and restarted. */
export class PostgresTemporal implements KillableServer {
  readonly #binary: string
  readonly #folder: string
  readonly address: string
  readonly database: Postgres
  #process: SupervisedProcess | undefined

  private constructor(binary: string, folder: string, address: string, database: Postgres) {
    this.#binary = binary
    this.#folder = folder
    this.address = address
    this.database = database
  }

  /** Starts a server that ends with the test. */
  static async start(): Promise<PostgresTemporal> {
    const binaries = await postgresTemporalBinaries
    if (binaries === undefined) throw new Error('there is no Temporal server for PostgreSQL')
    const database = await Postgres.start()
    onTestFinished(() => database.close())
    const folder = await mkdtemp(join(tmpdir(), 'ptc-temporal-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    await createSchema(binaries, database)
    const ports = await portsBelow32768(2 * services.length)
    await writeFile(join(folder, 'server.yaml'), JSON.stringify(serverConfiguration(database, ports)))
    const server = new PostgresTemporal(binaries.server, folder, `${ip}:${ports[0] ?? 0}`, database)
    onTestFinished(() => server.#stop())
    await server.startProcess()
    return server
  }

  /** Id of the process that supervises the server. */
  get pid(): number | undefined {
    return this.#process?.pid
  }

  async kill(): Promise<void> {
    this.#process?.kill()
    await this.#process?.ended
  }

  async startProcess(): Promise<void> {
    const log = openSync(join(this.#folder, 'log'), 'a')
    const options = ['--config-file', join(this.#folder, 'server.yaml'), '--allow-no-auth', 'start']
    this.#process = spawnSupervised(this.#binary, options, { environment: process.env, output: log })
    closeSync(log)
    let ended = false
    void this.#process.ended.finally(() => (ended = true))
    for (const deadline = Date.now() + startMs; !(await this.#isReady()); await sleep(100)) {
      if (!ended && Date.now() < deadline) continue
      const logText = await readFile(join(this.#folder, 'log'), 'utf8')
      throw new Error(`the Temporal server does not start:\n${logText.slice(-4_000)}`)
    }
  }

  /** True when the server answers; creates the namespace at the first start. */
  async #isReady(): Promise<boolean> {
    try {
      const connection = await Connection.connect({ address: this.address, connectTimeout: 2_000 })
      try {
        await connection.workflowService.registerNamespace({
          namespace,
          workflowExecutionRetentionPeriod: { seconds: day as never },
        })
      } catch (thrown) {
        if (!String(thrown).includes('already')) throw thrown
      } finally {
        await connection.close()
      }
      await probeNamespace({ address: this.address }, namespace, 2_000)
      return true
    } catch {
      return false
    }
  }

  async #stop(): Promise<void> {
    await this.kill()
  }
}

/** Temporal stores the ports of its members in a signed column of 16 bits; free ports of the system are larger. */
export async function portsBelow32768(count: number): Promise<readonly number[]> {
  const lowest = 10_000
  for (;;) {
    const first = lowest + Math.floor(Math.random() * (32_767 - lowest - count))
    const wishes = Array.from({ length: count }, (_, number) => first + number)
    const ports = await freePorts(wishes)
    if (ports.every((port, number) => port === wishes[number])) return ports
  }
}

async function createSchema({ sqlTool }: TemporalServerBinaries, { port, user }: Postgres): Promise<void> {
  for (const [database, schema] of Object.entries(databases)) {
    const to = ['--plugin', 'postgres12', '--ep', ip, '--port', String(port), '--user', user, '--database', database]
    await run(sqlTool, [...to, 'create'])
    await run(sqlTool, [...to, 'setup-schema', '--version', '0.0'])
    await run(sqlTool, [...to, 'update-schema', '--schema-name', schema])
  }
}

/** The configuration of the fleet. */
const dynamicConfiguration = fileURLToPath(new URL('../../../deploy/temporal/dynamic-config.yaml', import.meta.url))

function serverConfiguration({ port, user }: Postgres, ports: readonly number[]) {
  const store = (databaseName: string) => ({
    sql: {
      pluginName: 'postgres12',
      databaseName,
      connectAddr: `${ip}:${port}`,
      connectProtocol: 'tcp',
      user,
      maxConns: 20,
      maxIdleConns: 20,
    },
  })
  const rpc = (service: number) => ({
    rpc: { grpcPort: ports[2 * service], membershipPort: ports[2 * service + 1], bindOnIP: ip },
  })
  return {
    log: { stdout: true, level: 'warn' },
    persistence: {
      defaultStore: 'default',
      visibilityStore: 'visibility',
      numHistoryShards: 4,
      datastores: { default: store('temporal'), visibility: store('temporal_visibility') },
    },
    global: { membership: { maxJoinDuration: '30s', broadcastAddress: ip } },
    services: Object.fromEntries(services.map((service, number) => [service, rpc(number)])),
    clusterMetadata: {
      enableGlobalNamespace: false,
      failoverVersionIncrement: 10,
      masterClusterName: 'active',
      currentClusterName: 'active',
      clusterInformation: {
        active: { enabled: true, initialFailoverVersion: 1, rpcName: 'frontend', rpcAddress: `${ip}:${ports[0]}` },
      },
    },
    dcRedirectionPolicy: { policy: 'noop' },
    dynamicConfigClient: { filepath: dynamicConfiguration, pollInterval: '10s' },
  }
}
