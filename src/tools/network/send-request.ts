/*
 * One HTTP request to a host that a document or a configuration names.
 *
 * Owns: which addresses are reached, and which connections are used again. `open-response.ts` sends, and
 * `read-response.ts` reads.
 * Boundary: the caller makes the URL and the headers, and decides what a status means. Redirects are not followed here.
 *
 * Invariants:
 * 1. Every address of a host is judged where the connection is made, by the resolver of the connection itself: a name
 *    that resolves to another address a moment later gains nothing (DNS rebinding). One bad address refuses the host.
 * 2. A response is bounded after its decompression, while it streams; the connection ends at the bound.
 * 3. A request is sent once. A connection that other requests have used is taken only for requests that may be repeated,
 *    because its server may close it at the same moment.
 */
import dns, { type LookupOptions } from 'node:dns'
import { Agent as HttpAgent, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { raceWithSignal } from '../../common/async/abort.js'
import { problemOfAddress } from './address-policy.js'
import { hostOf, NotSentError, openResponse, type OpenRequest } from './open-response.js'
import { readBounded } from './read-response.js'

export interface OutgoingRequest {
  readonly method: string
  /** Its path is sent as it is written. */
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array | undefined
  /** The configuration names the host of the URL. */
  readonly isConfigured: boolean
  /** The request may be sent more than once. */
  readonly isRepeatable: boolean
  readonly signal: AbortSignal
}

export interface ReceivedResponse {
  readonly status: number
  /** By names in small letters. */
  readonly headers: Readonly<Record<string, string>>
  /** At most as many bytes as the reader allows for the status. */
  readonly body: Uint8Array
  /** The response was longer, and its rest was not read. */
  readonly isCut: boolean
}

/**
 * @param maxBytes of the decompressed body, by its status
 * @throws NotSentError; an error of the connection, after which the request may have been executed; the reason of the
 *   signal
 */
export async function sendRequest(
  outgoing: OutgoingRequest,
  maxBytes: (status: number) => number,
): Promise<ReceivedResponse> {
  const { signal } = outgoing
  signal.throwIfAborted()
  const started = start(outgoing)
  const stop = () => started.request.destroy()
  signal.addEventListener('abort', stop, { once: true })
  try {
    const response = await raceWithSignal(signal, started.response)
    const status = response.statusCode ?? 0
    const { body, isCut } = await raceWithSignal(signal, readBounded(response, maxBytes(status)))
    return { status, headers: headersOf(response), body, isCut }
  } finally {
    signal.removeEventListener('abort', stop)
    // Without effect on a connection whose response was read to its end.
    if (!started.request.destroyed && started.request.res?.complete !== true) started.request.destroy()
  }
}

function start({ url, isConfigured, isRepeatable, ...outgoing }: OutgoingRequest): OpenRequest {
  const host = hostOf(url)
  // No name is resolved for a host that is an address.
  const problem = isIP(host) === 0 ? undefined : problemOfAddress(host, { host, isConfigured })
  if (problem !== undefined) throw new NotSentError(`host ${host} is refused: ${problem}`, false)
  const pool = url.protocol === 'https:' ? securePool : plainPool
  // Connections are pooled by host, and the trust of a host is a part of its pool.
  const agent = isRepeatable && pool[isConfigured ? 'configured' : 'documented']
  return openResponse({ ...outgoing, url, agent, lookup: guardedLookup(isConfigured) })
}

const poolOptions = { keepAlive: true, maxFreeSockets: 16, timeout: 30_000 }
const plainPool = { configured: new HttpAgent(poolOptions), documented: new HttpAgent(poolOptions) }
const securePool = { configured: new HttpsAgent(poolOptions), documented: new HttpsAgent(poolOptions) }

/** Invariant 1. */
function guardedLookup(isConfigured: boolean): LookupFunction {
  return (host, options: LookupOptions, callback) => {
    dns.lookup(host, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, [])
      const problem = found
        .map(({ address }) => problemOfAddress(address, { host, isConfigured }))
        .find((each) => each !== undefined)
      if (problem !== undefined) return callback(new NotSentError(`host ${host} is refused: ${problem}`, false), [])
      if (options.all === true) return callback(null, found)
      const [first] = found
      if (first === undefined) return callback(new NotSentError(`host ${host} has no address`, true), [])
      callback(null, first.address, first.family)
    })
  }
}

function headersOf({ headers }: IncomingMessage): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  )
}
