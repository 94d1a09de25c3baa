import type { ComposeService, ComposeServices } from '../deploy/tools.js'
import { portsBelow32768 } from '../temporal/postgres-temporal.js'

/** Addresses on this machine that stand for HOST:PORT of services, where HOST is the name of a service. */
export class ServiceAddresses {
  readonly #ports: ReadonlyMap<string, number>
  readonly #pattern: RegExp

  private constructor(ports: ReadonlyMap<string, number>, pattern: RegExp) {
    this.#ports = ports
    this.#pattern = pattern
  }

  /** @param files texts with further addresses of services */
  static async allocate(services: ComposeServices, files: readonly string[]): Promise<ServiceAddresses> {
    const names = Object.keys(services).toSorted((one, other) => other.length - one.length)
    const pattern = new RegExp(`(?<![\\w-])(${names.join('|')}):(\\d{2,5})\\b`, 'g')
    const texts = [...files, ...Object.values(services).map(settingsOf)]
    const named = texts.flatMap((text) => [...text.matchAll(pattern)].map(([address]) => address))
    const published = Object.entries(services).flatMap(([name, { ports = [] }]) =>
      ports.map((port) => `${name}:${containerPort(port)}`),
    )
    const addresses = [...new Set([...named, ...published])]
    const ports = await portsBelow32768(addresses.length)
    return new ServiceAddresses(new Map(addresses.map((address, index) => [address, ports[index] ?? 0])), pattern)
  }

  /** Whether a word is a port of a service. */
  has(service: string, word: string): boolean {
    return this.#ports.has(`${service}:${word}`)
  }

  /** The port of this machine for a port of a service. @throws Error when no file names it */
  port(service: string, port: number): number {
    const found = this.#ports.get(`${service}:${port}`)
    if (found === undefined) throw new Error(`no file of the fleet names the address ${service}:${port}`)
    return found
  }

  address(service: string, port: number): string {
    return `127.0.0.1:${this.port(service, port)}`
  }

  /** A text with the addresses of this machine. */
  translate(text: string): string {
    return text.replaceAll(this.#pattern, (address) => `127.0.0.1:${this.#ports.get(address)}`)
  }
}

function settingsOf({ command = [], entrypoint = [], environment = {} }: ComposeService): string {
  return [...command, ...entrypoint, ...Object.values(environment)].join('\n')
}

/** Of `127.0.0.1:8081:8080/tcp`: 8080. */
function containerPort(published: string): string {
  return /:(\d+)(?:\/tcp)?$/.exec(published)?.[1] ?? ''
}
