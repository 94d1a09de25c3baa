/*
 * Which addresses a connection may go to. An address is judged by its bytes, never by its spelling.
 */
import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

type Address = ipaddr.IPv4 | ipaddr.IPv6

/** Services in public ranges that only the machines of a cloud reach: Azure's, which hands out secrets. */
const cloudServices: ReadonlySet<string> = new Set(['168.63.129.16'])

/**
 * The one spelling of an address. An IPv4 address inside an IPv6 address (`::ffff:127.0.0.1`) is the IPv4 address.
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
  if (cloudServices.has(canonical)) return 'metadata'
  const range = address.range()
  if (range !== 'unicast') return range
  return address instanceof ipaddr.IPv6 && !isGlobalUnicast(address) ? 'reserved' : undefined
}

/** Without its zone: `fe80::1%eth0` is the address `fe80::1`. */
function parseAddress(text: string): Address | undefined {
  const [bare = ''] = text.split('%')
  return isIP(bare) === 0 ? undefined : ipaddr.process(bare)
}

/** `2000::/3`. Everything else is reserved, or has an IPv4 address in it (`::127.0.0.1`). */
function isGlobalUnicast({ parts: [first = 0] }: ipaddr.IPv6): boolean {
  return first >= 0x2000 && first <= 0x3fff
}
