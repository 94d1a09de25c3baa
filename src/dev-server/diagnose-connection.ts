import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'

const defaultPort = 7233
const timeoutMs = 2_000

/** First bytes of an HTTP/2 client: the preface and an empty SETTINGS frame. */
const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', 'latin1')
const settingsFrame = 4

/**
 * Describes why a Temporal server can't be reached: tries the host name, the port, TLS and HTTP/2 in turn. Returns
 * undefined when all of them work. The SDK's own error is always "Failed to connect before the deadline".
 */
export async function diagnoseConnection(address: string, usesTls: boolean): Promise<string | undefined> {
  const { hostname, port: portText } = new URL(`tcp://${address}`)
  const host = hostname.replace(/^\[|\]$/g, '')
  const port = portText === '' ? defaultPort : Number(portText)
  try {
    await lookup(host)
  } catch (thrown) {
    return `the host name ${host} is not known (${errorCodeOf(thrown)})`
  }
  const connected = await attempt(
    () => connect({ host, port }),
    'connect',
    () => true,
  )
  if (connected !== true) return socketErrors[String(connected)] ?? `no connection (${connected})`
  const tls = () => connectTls({ host, port, rejectUnauthorized: false, ALPNProtocols: ['h2'], ...serverName(host) })
  const speaksTls = async () => (await attempt(tls, 'secureConnect', () => true)) === true
  if (usesTls) {
    if (!(await speaksTls()))
      return 'the server does not speak TLS, but the connection settings require it (TEMPORAL_TLS)'
    const strict = () => connectTls({ host, port, ALPNProtocols: ['h2'], ...serverName(host) })
    const trusted = await attempt(strict, 'secureConnect', () => true)
    return trusted === true ? undefined : `its TLS certificate is not accepted (${trusted})`
  }
  const isHttp2 = await attempt(
    () =>
      connect({ host, port }, function (this: Socket) {
        this.write(preface)
      }),
    'data',
    (data) => Buffer.isBuffer(data) && data[3] === settingsFrame,
  )
  if (isHttp2 === true) return undefined
  if (await speaksTls())
    return 'the server speaks TLS, but the connection settings do not use it (set TEMPORAL_TLS=true)'
  return 'the server at this address is not Temporal'
}

const socketErrors: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens at this address (connection refused)',
  ETIMEDOUT: 'the machine does not answer (timed out)',
}

/** SNI does not allow IP addresses. */
function serverName(host: string): { readonly servername?: string } {
  return /^[\d.]+$|:/.test(host) ? {} : { servername: host }
}

/** Opens a connection and waits for an event. Returns whether the event is as expected, or the code of the error. */
async function attempt(
  open: () => Socket,
  event: string,
  isExpected: (first: unknown) => boolean,
): Promise<boolean | string> {
  const socket = open()
  const ended = new AbortController()
  // Without a listener, an error after the event would be thrown.
  socket.on('error', () => undefined)
  socket.once('close', () => ended.abort())
  const timer = setTimeout(() => socket.destroy(Object.assign(new Error(), { code: 'ETIMEDOUT' })), timeoutMs)
  try {
    const [first]: unknown[] = await once(socket, event, { signal: ended.signal })
    return isExpected(first)
  } catch (thrown) {
    return errorCodeOf(thrown)
  } finally {
    clearTimeout(timer)
    socket.destroy()
  }
}

function errorCodeOf(thrown: unknown): string {
  return thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'closed'
}
