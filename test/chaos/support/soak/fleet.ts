import { onTestFinished } from 'vitest'
import { redisStream } from '../../../../src/stream/index.js'
import type { Script } from '../../../../src/testing/index.js'
import { SandboxHost } from '../../../support/docker/sandbox-host.js'
import { ledgerConfig } from '../../../support/environment/ledger-environment.js'
import { type ProcessEnvironment, TestEnvironment } from '../../../support/environment/test-environment.js'
import type { WorkerProcess } from '../../../support/environment/worker-process.js'
import { temporaryFolder } from '../../../support/folders.js'
import { Ledger } from '../../../support/ledger.js'
import { RedisServer } from '../../../support/stream/redis-server.js'
import { PostgresTemporal } from '../../../support/temporal/postgres-temporal.js'
import type { SoakOptions } from './options.js'
import { SupervisedWorker } from './supervised-worker.js'

/** A machine for sandboxes, and the worker on it. */
export interface HostOfFleet {
  readonly id: string
  readonly machine: SandboxHost
  readonly worker: SupervisedWorker
}

/**
 * A whole fleet: Temporal on PostgreSQL, Redis, sandbox hosts with their workers, and workers without sandboxes. A
 * ledger and a scripted model, which have no faults, stand for the world outside of it.
 */
export interface Fleet {
  readonly env: ProcessEnvironment
  readonly ledger: Ledger
  readonly server: PostgresTemporal
  readonly redis: RedisServer
  readonly hosts: readonly HostOfFleet[]
  readonly workers: readonly SupervisedWorker[]
  /** Folder of the value store. */
  readonly store: string
  /** Folder of temporary files of the workers. */
  readonly temporary: string
}

/** Starts a fleet that ends with the test. */
export async function startFleet(options: SoakOptions, script: Script): Promise<Fleet> {
  const [server, redis, ledger, machines, store, temporary] = await Promise.all([
    PostgresTemporal.start(),
    RedisServer.start(),
    Ledger.start(),
    Promise.all(Array.from({ length: options.hosts }, startMachine)),
    temporaryFolder(),
    temporaryFolder(),
  ])
  onTestFinished(() => redis.close())
  const stream = redisStream({ url: redis.url })
  onTestFinished(() => stream.close())
  const env = await TestEnvironment.startProcesses({
    script,
    config: ledgerConfig,
    address: server.address,
    store: { kind: 'local', directory: store },
    stream,
    environment: {
      LEDGER_URL: ledger.url,
      TEST_REDIS: redis.url,
      TEST_VALUE_STORE: JSON.stringify({ kind: 'local', directory: store }),
      TEST_HEARTBEAT: options.hasDefaultTimeouts ? 'default' : '',
      TEST_HOST_TIMEOUT: options.hasDefaultTimeouts ? 'default' : 'short',
      TMPDIR: temporary,
    },
    initialWorkers: [],
  })
  const workers = Array.from({ length: options.workers }, (_, index) => {
    const roles = ['workflow', 'model', 'tools'] as const
    return new SupervisedWorker(() => env.workers.start({ hostId: `worker-${index + 1}`, roles }))
  })
  const servers = { temporal: server.address, redis: redis.address, ledger: new URL(ledger.url).host }
  const hosts = await Promise.all(machines.map((machine, index) => hostOfFleet(machine, index, servers, env)))
  const fleet = { env, ledger, server, redis, hosts, workers, store, temporary }
  await Promise.all(workersOf(fleet).map((worker) => worker.startProcess()))
  return fleet
}

/** Host and port of each server, as this machine sees it. */
interface ServerAddresses {
  readonly temporal: string
  readonly redis: string
  readonly ledger: string
}

async function hostOfFleet(
  machine: SandboxHost,
  index: number,
  servers: ServerAddresses,
  { workers }: ProcessEnvironment,
): Promise<HostOfFleet> {
  const id = `host-${index + 1}`
  const [temporal, redis, ledger] = await Promise.all([
    machine.reach(servers.temporal),
    machine.reach(servers.redis),
    machine.reach(servers.ledger),
  ])
  const start = (): Promise<WorkerProcess> =>
    workers.start({
      hostId: id,
      // The worker of every other host has tools, too: it makes local calls and follow-up steps.
      roles: index % 2 === 0 ? ['sandbox', 'tools'] : ['sandbox'],
      launcher: machine.network.launcher,
      environment: {
        DOCKER_HOST: machine.daemon.host,
        TEMPORAL_ADDRESS: temporal,
        TEST_REDIS: `redis://${redis}`,
        LEDGER_URL: `http://${ledger}`,
      },
    })
  return { id, machine, worker: new SupervisedWorker(start) }
}

async function startMachine(): Promise<SandboxHost> {
  const machine = await SandboxHost.start()
  onTestFinished(() => machine.close())
  return machine
}

/** All workers of a fleet. */
export function workersOf({ workers, hosts }: Fleet): readonly SupervisedWorker[] {
  return [...workers, ...hosts.map(({ worker }) => worker)]
}
