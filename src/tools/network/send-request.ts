/*
 * One HTTP request to a host that a document or a configuration names.
 *
 * Owns: which addresses are reached, and how much of a response is read.
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
import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as httpRequest } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { PassThrough, pipeline, type Readable } from 'node:stream'
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib'
import { raceWithSignal } from '../../common/async/abort.js'
import { problemOfAddress } from './address-policy.js'

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

/** The policy or the network prevented the request: nothing of it was sent. */
export class NotSentError extends Error {
  override readonly name = 'NotSentError'
  /** A later attempt may succeed. */
  readonly isTemporary: boolean

  constructor(message: string, isTemporary: boolean, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.isTemporary = isTemporary
  }
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

interface StartedRequest {
  readonly request: ClientRequest & { readonly res?: IncomingMessage }
  readonly response: Promise<IncomingMessage>
}

function start({ method, url, headers, body, isConfigured, isRepeatable }: OutgoingRequest): StartedRequest {
  const host = url.hostname.replaceAll(/[[\]]/g, '')
  const trust = { host, isConfigured }
  // No name is resolved for a host that is an address.
  const problem = isIP(host) === 0 ? undefined : problemOfAddress(host, trust)
  if (problem !== undefined) throw new NotSentError(`host ${host} is refused: ${problem}`, false)
  const isSecure = url.protocol === 'https:'
  const [send, pool] = isSecure ? [httpsRequest, securePool] : [httpRequest, plainPool]
  const request = send({
    method,
    host,
    port: url.port === '' ? undefined : Number(url.port),
    path: `${url.pathname}${url.search}`,
    headers: { ...headers, ...(body && { 'content-length': String(body.length) }) },
    // Connections are pooled by host, and the trust of a host is a part of its pool.
    agent: isRepeatable ? pool[isConfigured ? 'configured' : 'documented'] : false,
    lookup: guardedLookup(isConfigured),
    maxHeaderSize,
  })
  let isConnected = false
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    request.on('socket', (socket) => {
      if (!socket.connecting) isConnected = true
      socket.once(isSecure ? 'secureConnect' : 'connect', () => (isConnected = true))
    })
    request.once('response', resolve)
    // Stays: an error may follow the response.
    request.on('error', (error) => {
      if (error instanceof NotSentError || isConnected) return reject(error)
      reject(new NotSentError(`${url.host} can't be reached: ${messageOfConnection(error)}`, true, error))
    })
  })
  response.catch(() => undefined)
  request.end(body)
  return { request, response }
}

const maxHeaderSize = 32 * 1024

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

function messageOfConnection(error: Error): string {
  // The error of several addresses has only a code.
  return error.message || ('code' in error ? String(error.code) : error.name)
}

/** Invariant 2. */
async function readBounded(
  response: IncomingMessage,
  maxBytes: number,
): Promise<Pick<ReceivedResponse, 'body' | 'isCut'>> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of decompressed(response) as AsyncIterable<Uint8Array>) {
    const rest = maxBytes - bytes
    if (chunk.length > rest) {
      response.destroy()
      return { body: Buffer.concat([...chunks, chunk.subarray(0, rest)]), isCut: true }
    }
    chunks.push(chunk)
    bytes += chunk.length
  }
  return { body: Buffer.concat(chunks), isCut: false }
}

function decompressed(response: IncomingMessage): Readable {
  const encoding = response.headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  const make = decompressors.get(encoding)
  if (make === undefined) throw new Error(`the response has an unknown content encoding: ${encoding.slice(0, 50)}`)
  // An error of either ends the iteration of the result.
  return pipeline(response, make(), () => undefined)
}

/** An empty body has no header of the encoding. A connection that ends too early is an error of its own. */
const lenient = { finishFlush: constants.Z_SYNC_FLUSH }

const decompressors: ReadonlyMap<string, () => NodeJS.ReadWriteStream & Readable> = new Map([
  ['identity', () => new PassThrough()],
  ['gzip', () => createGunzip(lenient)],
  ['x-gzip', () => createGunzip(lenient)],
  ['deflate', () => createInflate(lenient)],
  ['br', () => createBrotliDecompress({ finishFlush: constants.BROTLI_OPERATION_FLUSH })],
] as const)

/** The content encodings that {@link sendRequest} reads, for the header. */
export const acceptedEncodings = 'gzip, deflate, br'

function headersOf({ headers }: IncomingMessage): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : (value ?? '')]),
  )
}
