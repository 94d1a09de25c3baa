/*
 * Where a connection to a host of somebody else may go.
 *
 * Owns: what an address is (addresses.ts), the spellings of hosts (host-names.ts), and the resolution of a name to the
 * addresses that a connection may use. Boundary: the caller decides which hosts and ports are allowed, and connects.
 *
 * Invariants:
 * 1. An address is judged by its bytes, never by its spelling.
 * 2. A name is resolved once, and the connection goes to the addresses that were judged (`pinnedLookup`): a resolver that
 *    answers otherwise a moment later gains nothing (DNS rebinding).
 * 3. One address that is not allowed refuses the host.
 */
import { lookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { raceWithSignal } from '../common/async/abort.js'
import { hasErrorCode } from '../common/system-error.js'
import { refusedRange } from './addresses.js'

/** An address as Node's `lookup` returns it. */
export interface ResolvedAddress {
  readonly address: string
  readonly family: number
}

/** Finds the addresses of a name. */
export type Resolve = (name: string) => Promise<readonly ResolvedAddress[]>

/** The resolver of the operating system: with its hosts file, as every other program on this host. */
export const resolveBySystem: Resolve = (name) => lookup(name, { all: true, verbatim: true })

/** A host to which no connection goes. The message has none of its addresses. */
export class UnusableHostError extends Error {
  override readonly name = 'UnusableHostError'
  /** `address`: one of its addresses is not allowed. `unknown`: it has no address. */
  readonly reason: 'address' | 'unknown'

  constructor(reason: UnusableHostError['reason'], message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.reason = reason
  }
}

interface ResolveOptions {
  readonly resolve: Resolve
  /** Canonical addresses outside of the public internet that are allowed one by one. */
  readonly privateAddresses: ReadonlySet<string>
  readonly signal: AbortSignal
}

/**
 * The addresses to which a connection for a host may go. A resolver that mixes allowed and other addresses hopes that
 * the other one is tried first.
 *
 * @param host a name or an address, without brackets
 * @throws UnusableHostError; errors of the resolver; the reason of the signal
 */
export async function resolveHost(
  host: string,
  { resolve, privateAddresses, signal }: ResolveOptions,
): Promise<readonly ResolvedAddress[]> {
  const family = isIP(host)
  const addresses = family === 0 ? await resolveName(host, resolve, signal) : [{ address: host, family }]
  for (const { address } of addresses) {
    const range = refusedRange(address, privateAddresses)
    // A message without the address: it would tell names of the internal network.
    if (range !== undefined)
      throw new UnusableHostError('address', `${host} can't be reached: its address is not public (${range})`)
  }
  return addresses
}

/** Gives a socket, in place of its resolver, the addresses that were judged. */
export function pinnedLookup(addresses: readonly ResolvedAddress[]): LookupFunction {
  return (_host, { all, family }, callback) => {
    const [first] = addresses
    if (all === true)
      callback(
        null,
        addresses.map(({ address, family }) => ({ address, family })),
      )
    else if (first === undefined) callback(new Error(`no address of family ${family}`), '', 0)
    else callback(null, first.address, first.family)
  }
}

const maxAddresses = 100

async function resolveName(name: string, resolve: Resolve, signal: AbortSignal): Promise<readonly ResolvedAddress[]> {
  try {
    const addresses = await raceWithSignal(signal, resolve(name))
    if (addresses.length === 0) throw new UnusableHostError('unknown', `${name} has no address`)
    if (addresses.length > maxAddresses)
      throw new UnusableHostError('unknown', `${name} has over ${maxAddresses} addresses`)
    return addresses
  } catch (thrown) {
    if (hasErrorCode(thrown, 'ENOTFOUND')) throw new UnusableHostError('unknown', `there is no host ${name}`, thrown)
    throw thrown
  }
}
