import ipaddr from 'ipaddr.js'

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

/** Addresses of metadata services in ranges that are private. */
const metadataAddresses: ReadonlySet<string> = new Set(['100.100.100.200', 'fd00:ec2::254', 'fd20:ce::254'])

/** Returns why a request to the host must not reach the address; undefined when it may. */
export function problemOfAddress(address: string, { host, isConfigured }: HostTrust): string | undefined {
  const parsed = parseAddress(address)
  if (parsed === undefined) return `${address} is not an IP address`
  const range = parsed.range()
  const isMetadata = metadataAddresses.has(parsed.toString())
  if (range === 'unicast' && !isMetadata) return undefined
  if (isConfigured && parseAddress(host)?.toString() === parsed.toString()) return undefined
  if (isConfigured && privateRanges.has(range) && !isMetadata) return undefined
  if (isConfigured && loopbackRanges.has(range) && isLocalhost(host)) return undefined
  const kind = isMetadata ? 'the address of a metadata service' : `not a public address (${range})`
  return `${parsed.toString()} is ${kind}`
}

/** The address in its own family: `::ffff:127.0.0.1`, and the addresses of translators, stand for an IPv4 address. */
function parseAddress(text: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  const [plain = ''] = text.split('%') // without a zone
  if (!ipaddr.isValid(plain)) return undefined
  const parsed = ipaddr.process(plain)
  return parsed instanceof ipaddr.IPv6 ? (embeddedAddress(parsed) ?? parsed) : parsed
}

/** The IPv4 address within an IPv6 address of NAT64 (`64:ff9b::/96`) or in the compatible form (`::127.0.0.1`). */
function embeddedAddress(address: ipaddr.IPv6): ipaddr.IPv4 | undefined {
  const bytes = address.toByteArray()
  const range = address.range()
  const isCompatible = bytes.slice(0, 12).every((byte) => byte === 0) && !loopbackRanges.has(range)
  if (range !== 'rfc6052' && !isCompatible) return undefined
  return new ipaddr.IPv4(bytes.slice(12))
}

function isLocalhost(host: string): boolean {
  const name = host.toLowerCase().replace(/\.$/, '')
  return name === 'localhost' || name.endsWith('.localhost')
}
