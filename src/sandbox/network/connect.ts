import { once } from 'node:events'
import { connect, isIP, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { hostOf } from '../../network/host-names.js'
import { pinnedLookup } from '../../network/resolve-host.js'
import { type ClientHello, readClientHello } from './client-hello.js'
import type { Admitted } from './egress-proxy.js'
import { ExchangeError } from './exchange.js'
import { type Destination, Refusal } from './policy.js'
import { connectTimeoutMs, idleTimeoutMs } from './timeouts.js'

/** A connection of a program after its CONNECT. */
interface Tunnel {
  readonly stream: Duplex
  /** Its first bytes. */
  readonly first: Buffer
}

/** The alert of TLS (RFC 8446, section 6) `unrecognized_name`: the program has its 200, so there is no other status. */
export const unrecognizedName = Buffer.from([21, 3, 1, 0, 2, 2, 112])
const internalError = Buffer.from([21, 3, 1, 0, 2, 2, 80])

/** Reads of a ClientHello: it comes in one or two packets. */
const maxReads = 64

/** Accepts a CONNECT. Returns the first bytes of the connection; empty when there are none. */
export async function acceptTunnel(stream: Duplex, head: Buffer): Promise<Buffer> {
  stream.write('HTTP/1.1 200 Connection established\r\n\r\n')
  if (head.length > 0) return head
  return (await nextChunk(stream, AbortSignal.timeout(connectTimeoutMs))) ?? head
}

/** Whether bytes may begin a plain request: a method is in capital letters. */
export function isPlainText([byte = 0]: Buffer): boolean {
  return byte >= 0x41 && byte <= 0x5a
}

/**
 * Connects a program with a server of TLS, when its ClientHello asks for the host that the program has named. Resolves at
 * the end of the connection.
 *
 * @throws Refusal for another ClientHello; ExchangeError; errors of the connections
 */
export async function openTlsConnection(admitted: Admitted, { stream, first }: Tunnel): Promise<void> {
  const { exchange, destination } = admitted
  const { hello, bytes } = await readHello(stream, first)
  try {
    checkHello(hello, destination)
    await exchange.start()
  } catch (thrown) {
    stream.end(unrecognizedName)
    throw thrown
  }
  let socket: Socket | undefined
  try {
    socket = await dial(admitted)
    await relay(stream, bytes, socket, admitted)
    exchange.complete(200)
  } catch (thrown) {
    if (socket === undefined) stream.end(internalError)
    else stream.destroy()
    throw thrown
  } finally {
    socket?.destroy()
  }
}

/** @throws Refusal */
function checkHello(hello: ClientHello, { host }: Destination): void {
  if (hello.type !== 'hello') throw new Refusal('tls', 'a connection by CONNECT begins with the ClientHello of TLS')
  const { serverName, isEncrypted } = hello
  if (isEncrypted) throw new Refusal('server_name', 'the ClientHello hides its server name')
  // A client sends no server name for an address.
  if (serverName === undefined && isIP(host) !== 0) return
  if (serverName === undefined || hostOf(serverName) !== host)
    throw new Refusal('server_name', `the server name of the ClientHello is not ${host}`)
}

async function readHello(
  stream: Duplex,
  first: Buffer,
): Promise<{ readonly hello: ClientHello; readonly bytes: Buffer }> {
  const signal = AbortSignal.timeout(connectTimeoutMs)
  let bytes = first
  for (let reads = 0; reads < maxReads; reads++) {
    const hello = readClientHello(bytes)
    if (hello.type !== 'incomplete') return { hello, bytes }
    const chunk = await nextChunk(stream, signal)
    if (chunk === undefined) break
    bytes = Buffer.concat([bytes, chunk])
  }
  return { hello: { type: 'invalid' }, bytes }
}

/** Undefined at the end of the stream. */
async function nextChunk(stream: Duplex, signal: AbortSignal): Promise<Buffer | undefined> {
  for (;;) {
    const chunk = stream.read() as Buffer | null
    if (chunk !== null) return chunk
    if (stream.readableEnded || stream.destroyed || signal.aborted) return undefined
    const ended = new AbortController()
    const events = ['readable', 'end', 'close'].map((name) =>
      once(stream, name, { signal: AbortSignal.any([signal, ended.signal]) }),
    )
    await Promise.race(events).catch(() => undefined)
    ended.abort()
    await Promise.allSettled(events)
  }
}

async function dial({ destination: { host, port }, addresses, signal }: Admitted): Promise<Socket> {
  // A short message of a WebSocket does not wait until the server has acknowledged the one before it.
  const options = { lookup: pinnedLookup(addresses), allowHalfOpen: true, noDelay: true, signal }
  const socket = connect({ host, port, ...options })
  socket.on('error', () => undefined)
  socket.setTimeout(connectTimeoutMs, () => socket.destroy(new Error('timeout')))
  try {
    await once(socket, 'connect')
  } catch (cause) {
    socket.destroy()
    throw new ExchangeError('connection', `${host} can't be reached`, cause)
  }
  socket.setTimeout(idleTimeoutMs)
  socket.removeAllListeners('timeout')
  socket.once('timeout', () => socket.destroy(new ExchangeError('idle', `${host} is silent`)))
  return socket
}

async function relay(stream: Duplex, first: Buffer, socket: Socket, { exchange }: Admitted): Promise<void> {
  const sent = exchange.meter('sent')
  sent.write(first)
  await Promise.all([pipeline(stream, sent, socket), pipeline(socket, exchange.meter('received'), stream)])
}
