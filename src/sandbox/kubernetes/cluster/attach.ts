import type { ClientOptions, RawData, WebSocket } from 'ws'
import { PtcError } from '../../../common/errors.js'
import type { Handlers, Transport } from '../../resumable/index.js'
import type { ContainerName } from '../pod/pod-spec.js'
import type { Cluster } from './cluster.js'
import { clusterError } from './cluster-error.js'

/** The first byte of each message says to which stream it belongs. */
const channels = { stdin: 0, stdout: 1 } as const

/** Version 4 is that of servers before 1.30. */
const protocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io']
const openTimeoutMs = 15_000

/** A proxy on the way may close a connection without bytes after a minute. */
const pingMs = 20_000

/**
 * Bytes that wait to be sent, after which the connection is given up: nobody reads them. The relay takes no more than a
 * window, so an honest connection never has as many.
 */
const maximumBufferedBytes = 16 << 20

/**
 * Attaches to the process of a container. Bytes are lost at the beginning and at the end of a connection; `resumable`
 * mends that.
 *
 * @throws PtcError SANDBOX_UNAVAILABLE, SANDBOX_BACKEND_DOWN; the reason of the signal
 */
export async function attachTo(
  cluster: Cluster,
  { pod, container }: { readonly pod: string; readonly container: ContainerName },
  { onBytes, onClose }: Handlers,
  signal: AbortSignal,
): Promise<Transport> {
  const { WebSocket } = await import('ws')
  const options: ClientOptions = { handshakeTimeout: openTimeoutMs, perMessageDeflate: false }
  // Certificates, tokens, also those of programs that the kubeconfig names.
  await cluster.config.applyToHTTPSOptions(options)
  const query = new URLSearchParams({ container, stdin: 'true', stdout: 'true', stderr: 'false' })
  const address = cluster.server.replace(/^http/, 'ws').replace(/\/$/, '')
  const url = `${address}/api/v1/namespaces/${cluster.namespace}/pods/${pod}/attach?${query.toString()}`
  const socket = new WebSocket(url, protocols, options)
  await opened(socket, pod, signal)
  const ping = setInterval(() => socket.ping(), pingMs).unref()
  socket.on('message', (message: RawData) => {
    const bytes = Buffer.isBuffer(message)
      ? message
      : Array.isArray(message)
        ? Buffer.concat(message)
        : Buffer.from(message)
    if (bytes[0] === channels.stdout && bytes.length > 1) onBytes(bytes.subarray(1))
  })
  socket.on('error', () => undefined)
  socket.once('close', () => {
    clearInterval(ping)
    onClose()
  })
  return {
    send(bytes) {
      if (socket.readyState !== WebSocket.OPEN) return
      if (socket.bufferedAmount > maximumBufferedBytes) return socket.terminate()
      socket.send(Buffer.concat([Uint8Array.of(channels.stdin), bytes]))
    },
    close() {
      if (socket.readyState === WebSocket.CLOSED) return
      socket.close()
      // A peer that has disappeared does not answer.
      setTimeout(() => socket.terminate(), 1_000).unref()
    },
  }
}

async function opened(socket: WebSocket, pod: string, signal: AbortSignal): Promise<void> {
  const action = `attach to pod ${pod}`
  await new Promise<void>((resolve, reject) => {
    const abort = (): void => socket.terminate()
    const settle = (error?: unknown): void => {
      signal.removeEventListener('abort', abort)
      if (error === undefined) return resolve()
      socket.terminate()
      reject(signal.aborted ? (signal.reason as Error) : clusterError(error, action))
    }
    signal.addEventListener('abort', abort)
    socket.once('open', () => settle())
    socket.on('error', (error) => settle(error))
    socket.once('unexpected-response', (_request, { statusCode, statusMessage }) => {
      settle(Object.assign(new Error(statusMessage ?? 'refused'), { statusCode }))
    })
    socket.once('close', () => settle(new PtcError('SANDBOX_UNAVAILABLE', `could not ${action}: it was closed`)))
    if (signal.aborted) abort()
  })
}
