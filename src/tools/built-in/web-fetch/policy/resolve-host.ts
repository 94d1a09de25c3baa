import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { raceWithSignal } from '../../../../common/async/abort.js'
import { hasErrorCode } from '../../../../common/system-error.js'
import { ToolError } from '../../../tool-error.js'
import { refusedRange } from '../../../network/addresses.js'

/** An address as Node's `lookup` returns it. */
export interface ResolvedAddress {
  readonly address: string
  readonly family: number
}

/** Finds the addresses of a name. */
export type Resolve = (name: string) => Promise<readonly ResolvedAddress[]>

/** The resolver of the operating system: with its hosts file, as every other program on this host. */
export const resolveBySystem: Resolve = (name) => lookup(name, { all: true, verbatim: true })

interface ResolveOptions {
  readonly resolve: Resolve
  readonly privateAddresses: ReadonlySet<string>
  readonly signal: AbortSignal
}

/**
 * The addresses to which a connection for a host may go. One call of the resolver: the answer that is judged is the
 * answer that is used (invariant 2). One address that is not public refuses the host: a resolver that mixes them hopes
 * that the other one is tried first.
 *
 * @param host a name or an address, without brackets
 * @throws ToolError for a name that does not exist, and for addresses that are not allowed; errors of the resolver
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
    if (range !== undefined) throw new ToolError(`${host} can't be fetched: its address is not public (${range})`)
  }
  return addresses
}

const maxAddresses = 100

async function resolveName(name: string, resolve: Resolve, signal: AbortSignal): Promise<readonly ResolvedAddress[]> {
  try {
    const addresses = await raceWithSignal(signal, resolve(name))
    if (addresses.length === 0) throw new ToolError(`${name} has no address`)
    if (addresses.length > maxAddresses) throw new ToolError(`${name} has over ${maxAddresses} addresses`)
    return addresses
  } catch (thrown) {
    if (hasErrorCode(thrown, 'ENOTFOUND')) throw new ToolError(`there is no host ${name}`, { cause: thrown })
    throw thrown
  }
}
