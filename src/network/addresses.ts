/*
 * What an address is, for everything that connects to a host that somebody else names. An address is judged by its
 * bytes, never by its spelling.
 */
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6

/**
 * Services that hand out secrets to the machines of a cloud, in public and private ranges: of Azure, Alibaba, AWS and
 * Google. Those in the link-local range need no entry.
 */
const metadataServices: ReadonlySet<string> = new Set([
  '168.63.129.16',
  '100.100.100.200',
  'fd00:ec2::254',
  'fd20:ce::254',
])

/**
 * The one spelling of an address. An IPv4 address inside an IPv6 address is the IPv4 address: `::ffff:127.0.0.1`, and
 * `64:ff9b::7f00:1` of a translator (NAT64, RFC 6052).
 * Undefined for a text that is no address. Odd spellings, such as `0x7f.1`, are none: `new URL` has converted them.
 */
export function canonicalAddress(text: string): string | undefined {
  return parseAddress(text)?.toString()
}

/**
 * Why a connection must not go to an address, such as `loopback`; undefined for an address of the public internet, and
 * for one of `named`.
 *
 * @param named canonical addresses that the configuration allows one by one
 */
export function refusedRange(text: string, named: ReadonlySet<string> = new Set()): string | undefined {
  const address = parseAddress(text)
  if (address === undefined) return 'unknown'
  const canonical = address.toString()
  if (named.has(canonical)) return undefined
  if (metadataServices.has(canonical)) return 'metadata'
  const range = address.range()
  if (range !== 'unicast') return range
  return address instanceof ipaddr.IPv6 && !isGlobalUnicast(address) ? 'reserved' : undefined
}

/** Without its zone: `fe80::1%eth0` is the address `fe80::1`. */
function parseAddress(text: string): Address | undefined {
  const [bare = ''] = text.split('%')
  if (isIP(bare) === 0) return undefined
  const address = ipaddr.process(bare)
  if (address instanceof ipaddr.IPv4) return address
  const bytes = address.toByteArray()
  return nat64Prefix.every((byte, index) => bytes[index] === byte) ? new ipaddr.IPv4(bytes.slice(12)) : address
}

/** `64:ff9b::/96` */
const nat64Prefix = [0, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0] as const

/** `2000::/3`. Everything else is reserved, or has an IPv4 address in it (`::127.0.0.1`). */
function isGlobalUnicast({ parts: [first = 0] }: ipaddr.IPv6): boolean {
  return first >= 0x2000 && first <= 0x3fff
}
