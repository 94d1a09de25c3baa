import { readFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { onTestFinished, vi } from 'vitest'
import { startCodecProxy } from '../deploy/codec-proxy.js'
import { Prometheus } from '../deploy/prometheus.js'
import { type ComposeService, composeServices, type ComposeServices, root } from '../deploy/tools.js'
import { temporaryFolder } from '../folders.js'
import { pollOptions } from '../poll-options.js'
import { Postgres } from '../temporal/postgres.js'
import { makePrograms } from './fleet-programs.js'
import { ServiceAddresses } from './service-addresses.js'
import { ServiceProcess } from './service-process.js'
import { ServiceSettings, temporalPorts } from './service-settings.js'

/*
 * The services of docker-compose.yml as processes of this machine, with programs from packages in place of images.
 *
 * Owns the life cycle of these processes, and which program takes the place of an image.
 * Boundary: commands, environments and dependencies are those of the file; service-settings.ts translates addresses and
 * folders. A service whose image has no program here is
 * not started, and listed in `imagesWithoutProgram`.
 */

/** Images that no package has. */
export const imagesWithoutProgram = ['grafana/grafana', 'temporalio/ui'] as const

/** What a worker prints when it is ready. */
const readyLines: Readonly<Record<string, RegExp>> = {
  worker: /worker ready/,
  serve: /chat page: /,
  'codec-server': /codec server: /,
}

export class ComposeFleet {
  readonly services: ComposeServices
  readonly addresses: ServiceAddresses
  /** Takes the place of the volumes. */
  readonly folder: string
  readonly #started = new Map<string, Promise<ServiceProcess | undefined>>()
  readonly #processes = new Map<string, ServiceProcess>()
  readonly #settings: ServiceSettings
  #prometheus: Prometheus | undefined

  private constructor(services: ComposeServices, addresses: ServiceAddresses, folder: string) {
    this.services = services
    this.addresses = addresses
    this.folder = folder
    this.#settings = new ServiceSettings(services, addresses, folder)
  }

  /**
   * Starts all services, in the order of their dependencies. They end with the test.
   *
   * @param environment variables where Docker Compose runs
   */
  static async start(environment: Readonly<Record<string, string>>): Promise<ComposeFleet> {
    const services = await composeServices(environment)
    const files = ['deploy/prometheus/prometheus.yml', 'deploy/codec-proxy/default.conf.template']
    const texts = files.map((file) => readFileSync(join(root, file), 'utf8'))
    const metrics = Object.keys(services).flatMap((name) => [`${name}:9464`, `${name}:8081`])
    const addresses = await ServiceAddresses.allocate(services, [...texts, ...metrics])
    const fleet = new ComposeFleet(services, addresses, await temporaryFolder())
    await makePrograms(join(fleet.folder, 'bin'))
    await mkdir(join(fleet.folder, 'data'))
    await Promise.all(Object.keys(services).map((name) => fleet.#startOnce(name)))
    return fleet
  }

  get prometheus(): Prometheus {
    return required(this.#prometheus)
  }

  process(name: string): ServiceProcess {
    return required(this.#processes.get(name))
  }

  /** Runs a command with the environment of a service, as `docker compose exec` and `docker compose run` do. */
  async run(name: string, command: readonly string[]): Promise<string> {
    const process = this.#spawn(name, command)
    await process.waitForSuccess()
    return process.log
  }

  /** Runs the command of a service that ends. */
  async runAgain(name: string): Promise<void> {
    const { entrypoint = [], command = [] } = this.#service(name)
    await this.run(name, [...entrypoint, ...command])
  }

  /** Runs the health check of a service. */
  async checkHealth(name: string, port: number): Promise<void> {
    const [kind, ...command] = this.#service(name).healthcheck?.test ?? []
    if (kind !== 'CMD') throw new Error(`the health check of ${name} is no command`)
    await this.run(
      name,
      command.map((word) => word.replace(`127.0.0.1:${port}`, this.addresses.address(name, port))),
    )
  }

  #service(name: string): ComposeService {
    return required(this.services[name])
  }

  #startOnce(name: string): Promise<ServiceProcess | undefined> {
    const started = this.#started.get(name) ?? this.#start(name)
    this.#started.set(name, started)
    return started
  }

  async #start(name: string): Promise<ServiceProcess | undefined> {
    const service = this.#service(name)
    for (const [other, { condition }] of Object.entries(service.depends_on ?? {})) {
      const process = await this.#startOnce(other)
      if (condition === 'service_completed_successfully') await process?.waitForSuccess()
    }
    const image = service.image.replace(/:[^:/]*$/, '')
    const { entrypoint = [], command = [] } = service
    switch (image) {
      case 'postgres': {
        const postgres = await Postgres.start()
        onTestFinished(() => postgres.close())
        if (service.environment?.['POSTGRES_USER'] !== postgres.user) throw new Error('PostgreSQL has another user')
        this.#settings.postgresPort = postgres.port
        return undefined
      }
      case 'temporalio/admin-tools':
        return this.#spawn(name, [...entrypoint, ...command])
      case 'temporalio/server':
        return this.#listening(
          this.#spawn(name, ['temporal-server', 'start'], await temporalPorts(this.addresses)),
          7233,
        )
      case 'redis': {
        const options = ['--port', String(this.addresses.port(name, 6379)), '--bind', '127.0.0.1', '--dir', this.folder]
        return this.#listening(this.#spawn(name, [...command, ...options]), 6379)
      }
      case 'versity/versitygw':
        return this.#listening(this.#spawn(name, [...entrypoint, ...command]), 7070)
      case 'durable-ptc-worker':
        return this.#startWorkerImage(name, entrypoint, command)
      case 'nginx':
        await startCodecProxy(this.addresses.address('codec-server', 8234), this.#settings.environmentOf(name))
        return undefined
      case 'prom/prometheus': {
        const workers = Object.keys(this.services).filter((each) => each.startsWith('worker-'))
        this.#prometheus = await Prometheus.start(
          this.addresses.address(name, 9090),
          workers.map((each) => this.addresses.address(each, 9464)),
          (text) => this.addresses.translate(text),
        )
        return undefined
      }
      case 'prom/alertmanager':
        return this.#listening(
          this.#spawn(name, [
            'prometheus-alertmanager',
            `--config.file=${join(root, 'deploy/alertmanager/alertmanager.yml')}`,
            `--storage.path=${join(this.folder, name)}`,
            `--web.listen-address=${this.addresses.address(name, 9093)}`,
            '--cluster.listen-address=',
          ]),
          9093,
        )
      default:
        if (!imagesWithoutProgram.some((each) => each === image))
          throw new Error(`${name} has an unknown image: ${image}`)
        return undefined
    }
  }

  async #startWorkerImage(
    name: string,
    entrypoint: readonly string[],
    command: readonly string[],
  ): Promise<ServiceProcess> {
    const process = this.#spawn(name, [...(entrypoint.length === 0 ? ['ptc'] : entrypoint), ...command])
    const ready = readyLines[command[0] ?? '']
    if (ready) await process.waitForOutput(ready)
    return process
  }

  #spawn(name: string, command: readonly string[], env: Readonly<Record<string, string>> = {}): ServiceProcess {
    const process = new ServiceProcess(name, {
      command: command.map((word) => this.#settings.translate(name, word)),
      // The folder of the configuration in the image.
      cwd: join(root, 'examples/fleet'),
      env: { ...this.#settings.environmentOf(name), ...env },
    })
    onTestFinished(() => process.kill())
    if (!this.#processes.has(name)) this.#processes.set(name, process)
    return process
  }

  #listening(process: ServiceProcess, port: number): Promise<ServiceProcess> {
    const name = [...this.#processes].find(([, each]) => each === process)?.[0] ?? ''
    return vi.waitUntil(async () => {
      if (!process.isRunning) throw new Error(`${name} ended:\n${process.log}`)
      return (await accepts(this.addresses.port(name, port))) ? process : undefined
    }, pollOptions)
  }
}

function required<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('a part of the fleet is missing')
  return value
}

function accepts(port: number): Promise<boolean> {
  return new Promise((settle) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      settle(true)
    })
    socket.once('error', () => settle(false))
  })
}
