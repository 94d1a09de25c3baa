import { type Agent, type ClientRequest, type IncomingMessage, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { LookupFunction } from 'node:net'

/*
 * The only place that opens HTTP connections for tools. The caller decides which addresses `lookup` gives, reads the
 * response, and destroys it. A proxy of the environment is not used: it would resolve the host a second time.
 */

export interface OpenOptions {
  readonly method: string
  /** Its path is sent as it is written. */
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array | undefined
  /** False: a connection of its own. */
  readonly agent: Agent | false
  /** The connection goes to an address that this function gives, and that it has judged. */
  readonly lookup: LookupFunction
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

export interface OpenRequest {
  readonly request: ClientRequest & { readonly res?: IncomingMessage }
  /** @throws NotSentError; an error of the connection, after which the request may have been executed */
  readonly response: Promise<IncomingMessage>
}

const maxHeaderSize = 32 * 1024

export function openResponse({ method, url, headers, body, agent, lookup }: OpenOptions): OpenRequest {
  const isSecure = url.protocol === 'https:'
  const request = (isSecure ? httpsRequest : httpRequest)({
    method,
    host: hostOf(url),
    port: url.port === '' ? undefined : Number(url.port),
    path: `${url.pathname}${url.search}`,
    headers: { ...headers, ...(body && { 'content-length': String(body.length) }) },
    agent,
    lookup,
    maxHeaderSize,
  })
  let isConnected = false
  const response = new Promise<IncomingMessage>((resolve, reject) => {
    request.on('socket', (socket) => {
      if (!socket.connecting) isConnected = true
      socket.once(isSecure ? 'secureConnect' : 'connect', () => (isConnected = true))
    })
    request.once('response', (received) => {
      // The end of a request is an error of its response, which may have no reader at that moment.
      received.on('error', () => undefined)
      resolve(received)
    })
    request.on('upgrade', (_response, socket) => {
      socket.destroy()
      reject(new Error(`${url.host} wants another protocol than HTTP`))
    })
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

/** A name, or an address without brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replaceAll(/[[\]]/g, '')
}

function messageOfConnection(error: Error): string {
  // The error of several addresses has only a code.
  return error.message || ('code' in error ? String(error.code) : error.name)
}
