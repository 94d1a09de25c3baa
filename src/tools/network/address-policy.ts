import { canonicalAddress, refusedRange } from '../../network/addresses.js'

/**
 * Which addresses a request may reach. A document of somebody else must not name a service of this network, so its hosts
 * must be public. The owner of the configuration may name any host, and then reaches what this host says it is:
 *
 * | address | host of a document | host that the configuration names |
 * |---|---|---|
 * | public | allowed | allowed |
 * | private (RFC 1918, 4193, 6598) | refused | allowed |
 * | loopback, unspecified | refused | allowed for `localhost` and for an address that is written as one |
 * | link-local, metadata of a cloud, and all others | refused | allowed for an address that is written as one |
 */
export interface HostTrust {
  /** The host of the request: a name, or an address without brackets. */
  readonly host: string
  /** The configuration names the host. */
  readonly isConfigured: boolean
}

const privateRanges: ReadonlySet<string> = new Set(['private', 'uniqueLocal', 'carrierGradeNat'])
const loopbackRanges: ReadonlySet<string> = new Set(['loopback', 'unspecified'])

/** Returns why a request to the host must not reach the address; undefined when it may. */
export function problemOfAddress(address: string, { host, isConfigured }: HostTrust): string | undefined {
  const range = refusedRange(address)
  if (range === undefined) return undefined
  const canonical = canonicalAddress(address)
  if (canonical === undefined) return `${address} is not an IP address`
  if (isConfigured && canonicalAddress(host) === canonical) return undefined
  if (isConfigured && privateRanges.has(range)) return undefined
  if (isConfigured && loopbackRanges.has(range) && isLocalhost(host)) return undefined
  return `${canonical} is ${range === 'metadata' ? 'the address of a metadata service' : `not a public address (${range})`}`
}

function isLocalhost(host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, '')
  return name === 'localhost' || name.endsWith('.localhost')
}
