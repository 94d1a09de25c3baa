import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type ComposeService, type ComposeServices, root } from '../deploy/tools.js'
import { portsBelow32768 } from '../temporal/postgres-temporal.js'
import type { ServiceAddresses } from './service-addresses.js'

/** Variables of this process that each service may have: they say where programs and the Docker daemon are. */
const inherited = /^(PATH|DOCKER_\w+|PTC_BASE_IMAGE|PTC_NODE_IMAGE|PTC_BUILD_\w+|NODE_EXTRA_CA_CERTS|NODE_V8_COVERAGE)$/

/** The environments and words of commands of services, with addresses, folders and programs of this machine. */
export class ServiceSettings {
  readonly #services: ComposeServices
  readonly addresses: ServiceAddresses
  /** Takes the place of the volumes. */
  readonly folder: string
  postgresPort: number | undefined

  constructor(services: ComposeServices, addresses: ServiceAddresses, folder: string) {
    this.#services = services
    this.addresses = addresses
    this.folder = folder
  }

  /** Variables of the service, its image and this machine. */
  environmentOf(name: string): Readonly<Record<string, string>> {
    const own = Object.entries(process.env).flatMap(([key, value]) =>
      inherited.test(key) && value !== undefined ? [[key, value] as const] : [],
    )
    const ofImage = this.#serviceOf(name).image === 'durable-ptc-worker' ? this.#imageEnvironment(name) : {}
    const ofService = Object.entries(this.#serviceOf(name).environment ?? {}).map(
      ([key, value]) => [key, this.translate(name, value)] as const,
    )
    const path = `${join(this.folder, 'bin')}:${process.env['PATH'] ?? ''}`
    return { ...Object.fromEntries(own), HOME: this.folder, ...ofImage, ...Object.fromEntries(ofService), PATH: path }
  }

  /** The variables of deploy/Dockerfile, with addresses of this machine. */
  #imageEnvironment(name: string): Readonly<Record<string, string>> {
    const [, line = ''] = /^ENV (.*)$/m.exec(readFileSync(join(root, 'deploy/Dockerfile'), 'utf8')) ?? []
    const variables = Object.fromEntries(line.split(' ').map((word) => word.split('=') as [string, string]))
    const { PTC_HEALTH_ADDRESS: health = '', PTC_METRICS_ADDRESS: metrics = '' } = variables
    const here = (address: string) => this.addresses.address(name, Number(address.replace(':', '')))
    return { ...variables, HOME: this.folder, PTC_HEALTH_ADDRESS: here(health), PTC_METRICS_ADDRESS: here(metrics) }
  }

  /** A word of a command, or a value of an environment, with the addresses and folders of this machine. */
  translate(name: string, word: string): string {
    if (word === 'postgresql') return '127.0.0.1'
    if (word === '5432') return String(this.postgresPort)
    if (this.addresses.has(name, word)) return String(this.addresses.port(name, Number(word)))
    return this.addresses
      .translate(word)
      .replace(/^0\.0\.0\.0:(\d+)$/, (_, port: string) => this.addresses.address(name, Number(port)))
      .replace(/(?<= ):(\d+)\b/, (_, port: string) => this.addresses.address(name, Number(port)))
      .replaceAll('/etc/temporal/durable-ptc', join(root, 'deploy/temporal'))
      .replaceAll('/var/lib/durable-ptc', this.folder)
      .replaceAll(/(?<![\w/])\/data\b/g, join(this.folder, 'data'))
  }

  #serviceOf(name: string): ComposeService {
    const service = this.#services[name]
    if (service === undefined) throw new Error(`there is no service ${name}`)
    return service
  }
}

/** Ports for Temporal that are not in docker-compose.yml: a container has them for itself. */
export async function temporalPorts(addresses: ServiceAddresses): Promise<Readonly<Record<string, string>>> {
  const names = [
    'FRONTEND_HTTP_PORT',
    'FRONTEND_MEMBERSHIP_PORT',
    ...['MATCHING', 'HISTORY', 'WORKER'].flatMap((service) => [`${service}_GRPC_PORT`, `${service}_MEMBERSHIP_PORT`]),
  ]
  const ports = await portsBelow32768(names.length)
  return {
    ...Object.fromEntries(names.map((name, index) => [name, String(ports[index])])),
    FRONTEND_GRPC_PORT: String(addresses.port('temporal', 7233)),
    // Its entrypoint sets this.
    TEMPORAL_BROADCAST_ADDRESS: '127.0.0.1',
  }
}
