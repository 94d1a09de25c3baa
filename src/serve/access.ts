import type { IncomingMessage, ServerResponse } from 'node:http'
import { hasToken, isLoopback } from '../http/index.js'
import { HttpError } from './errors.js'

export interface Access {
  /** Undefined: none is needed. */
  readonly token: string | undefined
  /** Origins of other web pages that may ask. */
  readonly origins: ReadonlySet<string>
}

/**
 * Refuses requests of web pages that may not ask.
 *
 * @throws HttpError FORBIDDEN
 */
export function checkOrigin({ headers }: IncomingMessage, response: ServerResponse, { token, origins }: Access): void {
  const { host = '', origin } = headers
  // Whoever owns a domain can make its name that of this machine (DNS rebinding). A page there has no token.
  if (token === undefined && !isLoopback(hostNameOf(host)))
    throw new HttpError('FORBIDDEN', `${host} is no name of this machine, and the server has no token`)
  response.setHeader('Vary', 'Origin')
  if (origin === undefined) {
    // A page of another site may cause a GET without an origin, as by an image.
    if (headers['sec-fetch-site'] === 'cross-site' && headers['sec-fetch-mode'] !== 'navigate')
      throw new HttpError('FORBIDDEN', 'pages of other sites are not allowed')
    return
  }
  if (URL.canParse(origin) && new URL(origin).host === host) return
  if (!origins.has(origin)) throw new HttpError('FORBIDDEN', `origin ${origin} is not allowed`)
  response.setHeader('Access-Control-Allow-Origin', origin)
  response.setHeader('Access-Control-Allow-Methods', 'GET, POST, OPTIONS')
  response.setHeader('Access-Control-Allow-Headers', 'Authorization, Content-Type, Last-Event-ID, User-Agent')
  response.setHeader('Access-Control-Max-Age', '600')
}

/** @throws HttpError UNAUTHORIZED */
export function checkToken(request: IncomingMessage, response: ServerResponse, { token }: Access): void {
  if (hasToken(request, token, 'x-api-key')) return
  response.setHeader('WWW-Authenticate', 'Bearer')
  throw new HttpError('UNAUTHORIZED', 'a token is needed: Authorization: Bearer TOKEN')
}

function hostNameOf(host: string): string {
  const url = `http://${host}`
  return URL.canParse(url) ? new URL(url).hostname.replaceAll(/[[\]]/g, '') : ''
}
