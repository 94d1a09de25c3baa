import { isIP } from 'node:net'
import type { NetworkRules, NetworkTarget } from '../../common/run/network.js'
import { canonicalAddress, refusedRange } from '../../network/addresses.js'
import { hostOf } from '../../network/host-names.js'

/** Why a request is refused. Each has a row in docs/guides/network.md. */
export type RefusalRule =
  | 'malformed'
  | 'host'
  | 'method'
  | 'host_header'
  | 'address'
  | 'unknown_host'
  | 'tls'
  | 'server_name'
  | 'requests'
  | 'audit'
  | 'credential'

/** A request that does not reach its target. The message is for the program, and has no secret. */
export class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly rule: RefusalRule
  readonly status: 400 | 403 | 429 | 502 | 503

  constructor(rule: RefusalRule, message: string, status: Refusal['status'] = 403, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.rule = rule
    this.status = status
  }
}

/** Where a program wants to send something. */
export interface Destination {
  /** In the form of `hostOf`; an IPv4 address inside an IPv6 address is the IPv4 address. */
  readonly host: string
  readonly port: number
}

const defaultPorts: ReadonlySet<number> = new Set([80, 443])

/** Ranges of which single addresses may be allowed. Link-local addresses and metadata services never are. */
const allowableRanges: ReadonlySet<string | undefined> = new Set([
  undefined,
  'private',
  'uniqueLocal',
  'carrierGradeNat',
  'loopback',
])

/** Returns whether a configuration may allow the address. */
export function isAllowableAddress(address: string): boolean {
  return allowableRanges.has(refusedRange(address))
}

/** Parses `HOST:PORT`, where IPv6 addresses have brackets. Undefined for everything else. */
export function parseAuthority(text: string, defaultPort?: number): Destination | undefined {
  const [, name = '', portText] = /^(\[[^\]]*\]|[^:]+)(?::([0-9]{1,5}))?$/.exec(text) ?? []
  const port = portText === undefined ? defaultPort : Number(portText)
  const host = hostOf(name)
  if (host === undefined || port === undefined || port < 1 || port > 65_535) return undefined
  // An empty label: `.example.com` would match `*.example.com`.
  if (/^\.|\.\./.test(host)) return undefined
  return { host: canonicalAddress(host) ?? host, port }
}

export function formatDestination({ host, port }: Destination): string {
  return isIP(host) === 6 ? `[${host}]:${port}` : `${host}:${port}`
}

/** The rules of a run, for decisions about single requests. */
export class NetworkPolicy {
  readonly #rules: NetworkRules

  constructor(rules: NetworkRules) {
    this.#rules = rules
  }

  /** @param method of a plain request, or CONNECT for TLS. @throws Refusal */
  check(method: string, destination: Destination): NetworkTarget {
    const targets = this.#targetsAt(destination)
    const found = targets.find((target) => permits(target, method))
    if (found !== undefined) return found
    const reason = method === 'CONNECT' ? plainOnly(destination, targets) : `${method} is not allowed`
    throw new Refusal('method', `${formatDestination(destination)}: ${reason}`)
  }

  /**
   * Whether a connection by CONNECT may carry TLS. Some clients also send plain requests by CONNECT.
   *
   * @throws Refusal
   */
  permitsTls(destination: Destination): boolean {
    const isPermitted = this.#targetsAt(destination).some((target) => permits(target, 'CONNECT'))
    // Nobody sends plain requests to the port of TLS: the program learns at once what it should do.
    if (!isPermitted && destination.port === 443) this.check('CONNECT', destination)
    return isPermitted
  }

  /** Addresses outside of the public internet that connections to this port may have. */
  privateAddresses(port: number): ReadonlySet<string> {
    const named = this.#rules.allow.filter((target) => isIP(target.host) !== 0 && hasPort(target, port))
    return new Set(named.map(({ host }) => host).filter(isAllowableAddress))
  }

  /** @throws Refusal */
  #targetsAt(destination: Destination): readonly NetworkTarget[] {
    const { host } = destination
    const targets = this.#rules.allow.filter((target) => matches(target, destination))
    if (targets.length === 0) throw new Refusal('host', `${formatDestination(destination)} is not allowed`)
    if (isIP(host) !== 0 && !isAllowableAddress(host)) throw new Refusal('address', `${host} is never allowed`)
    return targets
  }
}

function matches(target: NetworkTarget, { host, port }: Destination): boolean {
  if (!hasPort(target, port)) return false
  if (target.subdomains !== true) return host === target.host
  return isIP(host) === 0 && host.endsWith(`.${target.host}`)
}

function hasPort({ port: allowed }: NetworkTarget, port: number): boolean {
  return allowed === undefined ? defaultPorts.has(port) : port === allowed
}

/** What the proxy can't see, it can't limit: a target with conditions takes plain requests only. */
function permits({ methods, headers, https }: NetworkTarget, method: string): boolean {
  if (method === 'CONNECT') return methods === undefined && headers === undefined && https === undefined
  // A server that repeats the request in its response would give the injected headers to the code.
  if (method === 'TRACE') return false
  return methods === undefined || methods.includes(method)
}

function plainOnly(destination: Destination, targets: readonly NetworkTarget[]): string {
  const url = `http://${formatDestination(destination).replace(/:443$/, '')}/`
  return targets.some(({ https }) => https)
    ? `use ${url}: the proxy sends the request on by https`
    : `use ${url}, because CONNECT is not allowed`
}
