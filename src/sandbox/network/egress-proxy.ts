/*
 * The proxy by which the code of a sandbox reaches a network. It runs in the worker; the sandbox itself has no interface
 * but loopback, and its runner carries the bytes of each connection to the worker (tunnel.ts).
 *
 * Owns: what a program may reach, by the rules of its run, and how. policy.ts decides about hosts, ports and methods;
 * plain-request.ts sends HTTP requests, connect.ts opens connections for TLS; exchange.ts counts and reports.
 * Boundary: streams of bytes from untrusted programs on one side, sockets of this process on the other side. It knows no
 * step, except for the access that the activity of a step gives.
 *
 * Invariants:
 * 1. No connection is opened before the rules allow its host, port and method, its name is resolved once, all its
 *    addresses are judged, and the start of the request is stored in the audit log. It goes to these addresses.
 * 2. Redirects are not followed: a program sends a new request, which passes all checks.
 * 3. A connection by CONNECT begins with a ClientHello for the host that the program named, or with a plain request for
 *    it, which passes all checks.
 * 4. The value of a credential goes to its target only, and into no response, event or message of the proxy.
 * 5. What a program sends is bounded: the head of a request by Node's parser, the ClientHello, the bytes and the time of
 *    a connection, and the requests per minute and per step.
 */
import { createServer, type IncomingMessage, type Server, STATUS_CODES, type ServerResponse } from 'node:http'
import type { Duplex } from 'node:stream'
import type { NetworkTarget } from '../../common/run/network.js'
import { type Resolve, type ResolvedAddress, resolveHost, UnusableHostError } from '../../network/resolve-host.js'
import type { NetworkAccess } from './access.js'
import { acceptTunnel, isPlainText, openTlsConnection, unrecognizedName } from './connect.js'
import { Exchange, ExchangeError } from './exchange.js'
import { sendPlainRequest } from './plain-request.js'
import { type Destination, NetworkPolicy, parseAuthority, Refusal } from './policy.js'
import { RequestRate } from './request-rate.js'

export interface EgressProxyOptions {
  readonly resolve: Resolve
  /** Certificates that are trusted in place of the system's, for tests with a server of their own. */
  readonly ca?: string | undefined
}

/** A request that passed the checks, and has not gone out. */
export interface Admitted {
  readonly exchange: Exchange
  readonly destination: Destination
  readonly target: NetworkTarget
  readonly addresses: readonly ResolvedAddress[]
  /** Aborted when the program closes its connection. */
  readonly signal: AbortSignal
}

const maxHeadBytes = 16 * 1024
const maxHeaders = 100

/** The proxy for the programs of one sandbox. */
export class EgressProxy {
  readonly #options: EgressProxyOptions
  readonly #server: Server
  readonly #rate = new RequestRate()
  /** Connections after a CONNECT in which the program sends plain requests, with the destination that it named. */
  readonly #plainTunnels = new WeakMap<Duplex, Destination>()
  #access: NetworkAccess | undefined

  constructor(options: EgressProxyOptions) {
    this.#options = options
    // It never listens: connections come from `accept`.
    this.#server = createServer({ maxHeaderSize: maxHeadBytes, requireHostHeader: false })
    this.#server.maxHeadersCount = maxHeaders
    this.#server.on('request', (request, response) => void this.#servePlain(request, response))
    this.#server.on('connect', (request, stream, head) => void this.#serveConnect(request, stream, head))
    this.#server.on('clientError', (_error, stream) => answerConnect(stream, new Refusal('malformed', 'not HTTP', 400)))
  }

  /** Sets what requests may do from now on: each step brings its access. */
  use(access: NetworkAccess): void {
    if (access !== this.#access) this.#rate.beginStep()
    this.#access = access
  }

  /** Serves a connection of a program. */
  accept(connection: Duplex): void {
    // Each of the requests at once listens for its end.
    connection.setMaxListeners(0)
    this.#server.emit('connection', connection)
  }

  async #servePlain(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = '' } = request
    const serve = async (exchange: Exchange, access: NetworkAccess, signal: AbortSignal): Promise<void> => {
      const { path, destination } = readTarget(request, this.#plainTunnels.get(request.socket))
      const admitted = await this.#admit(access, { exchange, method, destination, signal })
      const headers = await fillHeaders(access, admitted)
      await exchange.start()
      await sendPlainRequest(admitted, { request, response, path, headers, ca: this.#options.ca })
    }
    await this.#serve(method, request.socket, serve, (answer) => answerPlain(response, answer))
  }

  async #serveConnect(request: IncomingMessage, stream: Duplex, head: Buffer): Promise<void> {
    const serve = async (exchange: Exchange, access: NetworkAccess, signal: AbortSignal): Promise<void> => {
      const destination = parseAuthority(request.url ?? '')
      if (destination === undefined || this.#plainTunnels.has(stream))
        throw new Refusal('malformed', 'CONNECT names HOST:PORT, once', 400)
      exchange.destination = destination
      const admitted = new NetworkPolicy(access.rules).permitsTls(destination)
        ? await this.#admit(access, { exchange, method: 'CONNECT', destination, signal })
        : undefined
      const first = await acceptTunnel(stream, head)
      if (isPlainText(first)) return this.#acceptPlain(stream, first, destination)
      if (admitted) return openTlsConnection(admitted, { stream, first })
      stream.end(unrecognizedName)
      throw new Refusal('method', 'this host takes plain requests only')
    }
    await this.#serve('CONNECT', stream, serve, (answer) => answerConnect(stream, answer))
  }

  /** Reads plain requests in a connection by CONNECT. Each passes the checks of a plain request. */
  #acceptPlain(stream: Duplex, first: Buffer, destination: Destination): void {
    this.#plainTunnels.set(stream, destination)
    stream.unshift(first)
    this.accept(stream)
  }

  /** Serves one request to its end, and reports it. Never rejects. */
  async #serve(
    method: string,
    connection: Duplex,
    serve: (exchange: Exchange, access: NetworkAccess, signal: AbortSignal) => Promise<void>,
    answer: (answer: Answer) => void,
  ): Promise<void> {
    const access = this.#access
    if (access === undefined) return answer(new Refusal('requests', 'no step has begun', 503))
    const abort = new AbortController()
    const stop = () => abort.abort()
    connection.once('close', stop)
    const exchange = new Exchange(access, this.#rate.nextNumber(), method)
    try {
      this.#rate.enter()
      await serve(exchange, access, abort.signal)
    } catch (thrown) {
      if (thrown instanceof Refusal) {
        if (this.#rate.mayReportRefusal()) exchange.refuse(thrown.rule)
        answer(thrown)
      } else {
        const isExpected = thrown instanceof ExchangeError
        const rule = isExpected ? thrown.reason : 'connection'
        exchange.fail(rule)
        answer({ rule, message: isExpected ? thrown.message : 'the connection ended', status: 502 })
      }
    } finally {
      this.#rate.leave()
      connection.off('close', stop)
    }
  }

  /** @throws Refusal */
  async #admit(
    { rules }: NetworkAccess,
    {
      method,
      destination,
      exchange,
      signal,
    }: Pick<Admitted, 'destination' | 'exchange' | 'signal'> & { readonly method: string },
  ): Promise<Admitted> {
    exchange.destination = destination
    const policy = new NetworkPolicy(rules)
    const target = policy.check(method, destination)
    this.#rate.take(rules.requestsPerMinute)
    const { host, port } = destination
    const { resolve } = this.#options
    try {
      const privateAddresses = policy.privateAddresses(port)
      const addresses = await resolveHost(host, { resolve, privateAddresses, signal })
      return { exchange, destination, target, addresses, signal }
    } catch (thrown) {
      if (!(thrown instanceof UnusableHostError))
        throw new Refusal('unknown_host', `${host} can't be resolved`, 502, thrown)
      const rule = thrown.reason === 'address' ? 'address' : 'unknown_host'
      throw new Refusal(rule, thrown.message, rule === 'address' ? 403 : 502)
    }
  }
}

interface Target {
  /** The path and the query, as the program has written them. */
  readonly path: string
  readonly destination: Destination
}

/**
 * Reads where a plain request goes.
 *
 * @param tunnel what the program has named in its CONNECT; undefined for a request to the proxy
 * @throws Refusal for a request that is not for a proxy, or whose header Host names another host
 */
function readTarget({ url: text = '', rawHeaders, headers }: IncomingMessage, tunnel: Destination | undefined): Target {
  const [, authority = ''] = (tunnel ? undefined : /^http:\/\/([^/?#]+)(?:[/?#]|$)/i.exec(text)) ?? []
  const destination = tunnel ?? (URL.canParse(text) ? parseAuthority(authority, 80) : undefined)
  if (destination === undefined || (tunnel && !text.startsWith('/')))
    throw new Refusal('malformed', 'a request names http://HOST/PATH, or CONNECT', 400)
  const encoding = headers['transfer-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'chunked')
    throw new Refusal('malformed', 'the transfer encoding is unknown', 400)
  const hosts = rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === 'host')
  const named = hosts.map((host) => parseAuthority(host, 80))
  const isSame = named.every((each) => each?.host === destination.host && each.port === destination.port)
  if (hosts.length > 1 || !isSame)
    throw new Refusal('host_header', 'the header Host names another host than the request', 400)
  const path = (tunnel ? text : text.slice('http://'.length + authority.length)).replace(/#.*/s, '')
  return { path: path.startsWith('/') ? path : `/${path}`, destination }
}

/** @throws Refusal */
async function fillHeaders(
  access: NetworkAccess,
  { target, signal }: Admitted,
): Promise<Readonly<Record<string, string>>> {
  if (target.headers === undefined) return {}
  try {
    return await access.fillHeaders(target.headers, signal)
  } catch (cause) {
    throw new Refusal('credential', 'a credential of this host can not be read', 503, cause)
  }
}

/** A response of the proxy itself. */
interface Answer {
  readonly status: Refusal['status']
  readonly rule: Refusal['rule'] | ExchangeError['reason']
  readonly message: string
}

function answerPlain(response: ServerResponse, answer: Answer): void {
  // The program has a part of a response: the end of its connection tells it that the rest is missing.
  if (response.headersSent) return void response.destroy()
  const { reason, body, headers } = describeAnswer(answer)
  response.writeHead(answer.status, reason, headers).end(body)
}

function answerConnect(stream: Duplex, answer: Answer): void {
  if (stream.writable) {
    const { reason, body, headers } = describeAnswer(answer)
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
    stream.end([`HTTP/1.1 ${answer.status} ${reason}`, ...lines, '', body].join('\r\n'))
  }
  // The stream ends when the program has read the answer and closed its side.
  stream.resume()
}

/** Clients show the reason of a status, and often not the body. */
function describeAnswer({ rule, message, status }: Answer) {
  const body = `durable-ptc: ${message} (${rule}). docs/guides/network.md lists the rules.\n`
  const reason = message.replaceAll(/[^ -~]/g, '?').slice(0, 200) || (STATUS_CODES[status] ?? '')
  const headers = {
    'Content-Type': 'text/plain; charset=utf-8',
    'Content-Length': String(Buffer.byteLength(body)),
    Connection: 'close',
  }
  return { reason, body, headers }
}
