import { type ClientRequest, type IncomingMessage, request as httpRequest, type ServerResponse } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import type { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { pinnedLookup } from '../../network/resolve-host.js'
import type { Admitted } from './egress-proxy.js'
import { ExchangeError } from './exchange.js'
import { formatDestination } from './policy.js'
import { connectTimeoutMs, idleTimeoutMs } from './timeouts.js'

interface PlainRequest {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** The path and the query, as the program has written them. */
  readonly path: string
  /** Headers that the proxy sets. */
  readonly headers: Readonly<Record<string, string>>
  readonly ca: string | undefined
}

/** Headers of one connection (RFC 9110, section 7.6.1), and those that Node sets. */
const connectionHeaders: ReadonlySet<string> = new Set([
  'connection',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

const maxHeadBytes = 64 * 1024

/**
 * Sends a request to its target, and the response to the program. Resolves when the program has the response.
 *
 * @throws ExchangeError; errors of the connections
 */
export async function sendPlainRequest(
  { exchange, destination, target, addresses, signal }: Admitted,
  { request, response, path, headers, ca }: PlainRequest,
): Promise<void> {
  const isSecure = target.https === true
  const port = isSecure && target.port === undefined ? 443 : destination.port
  const { host } = destination
  const isDefaultPort = port === (isSecure ? 443 : 80)
  const outgoing = (isSecure ? httpsRequest : httpRequest)({
    method: request.method,
    host,
    port,
    path,
    headers: {
      ...endToEndHeaders(request),
      host: isDefaultPort ? formatDestination({ host, port }).replace(/:\d+$/, '') : formatDestination({ host, port }),
      ...(isChunked(request) && { 'transfer-encoding': 'chunked' }),
      ...lowerCased(headers),
    },
    // A connection of its own: invariant 1 of egress-proxy.ts.
    agent: false,
    lookup: pinnedLookup(addresses),
    maxHeaderSize: maxHeadBytes,
    signal,
    ...(isSecure && { ca, servername: isIP(host) === 0 ? host : '' }),
  })
  const stop = (error: ExchangeError) => () => void outgoing.destroy(error)
  const connecting = setTimeout(stop(new ExchangeError('connection', `${host} does not answer`)), connectTimeoutMs)
  outgoing.on('socket', (socket) => {
    socket.once(isSecure ? 'secureConnect' : 'connect', () => clearTimeout(connecting))
    socket.setTimeout(idleTimeoutMs, stop(new ExchangeError('idle', `${host} is silent`)))
  })
  try {
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      outgoing.once('response', resolve)
      outgoing.once('upgrade', (_, socket) => {
        socket.destroy()
        reject(new ExchangeError('connection', `${host} changed the protocol`))
      })
      // Stays: an error may follow the response.
      outgoing.on('error', reject)
    })
    answered.catch(() => undefined)
    sendBody(request, exchange.meter('sent'), outgoing)
    const received = await answered.catch((cause: unknown) => {
      throw cause instanceof ExchangeError ? cause : new ExchangeError('connection', `${host} can't be reached`, cause)
    })
    response.writeHead(received.statusCode ?? 502, received.statusMessage, rawEndToEndHeaders(received))
    await pipeline(received, exchange.meter('received'), response)
    exchange.complete(received.statusCode ?? 502)
  } finally {
    clearTimeout(connecting)
    outgoing.destroy()
  }
}

/**
 * Without a length, a request has no body: Node would send one without a frame, and the server would read it as further
 * requests. A server may answer before it has the whole body, so the end of `outgoing` does not end the request.
 */
function sendBody(request: IncomingMessage, meter: Transform, outgoing: ClientRequest): void {
  if (!isChunked(request) && request.headers['content-length'] === undefined) return void outgoing.end()
  meter.on('error', (error) => outgoing.destroy(error))
  request.pipe(meter).pipe(outgoing)
  outgoing.once('close', () => {
    request.unpipe(meter)
    request.resume()
  })
}

function isChunked({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined
}

function endToEndHeaders(message: IncomingMessage): Readonly<Record<string, readonly string[]>> {
  const own = namedByConnection(message)
  return Object.fromEntries(
    Object.entries(message.headersDistinct).flatMap(([name, values]) =>
      connectionHeaders.has(name) || own.has(name) || values === undefined ? [] : [[name, values] as const],
    ),
  )
}

/** Names and values, one after the other, as `writeHead` takes them. */
function rawEndToEndHeaders(message: IncomingMessage): string[] {
  const own = namedByConnection(message)
  const { rawHeaders } = message
  return rawHeaders.filter((_, index) => {
    const name = (rawHeaders[index - (index % 2)] ?? '').toLowerCase()
    return !connectionHeaders.has(name) && !own.has(name)
  })
}

function namedByConnection({ headers }: IncomingMessage): ReadonlySet<string> {
  return new Set((headers.connection ?? '').split(',').map((name) => name.trim().toLowerCase()))
}

function lowerCased(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
}
