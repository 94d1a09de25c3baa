import type { IncomingMessage, ServerResponse } from 'node:http'
import { hasToken, isLoopback } from '../http/index.js'
import { HttpError } from './errors.js'

export interface Access {
  /** Undefined: requests need no token. */
  readonly token: string | undefined
  /** Origins of other web pages that may send requests. */
  readonly origins: ReadonlySet<string>
}

/**
 * Refuses requests of web pages that have no access.
 *
 * @throws HttpError FORBIDDEN
 */
export function checkOrigin(
  { method, headers, headersDistinct }: IncomingMessage,
  response: ServerResponse,
  { token, origins }: Access,
): void {
  const { host = '', origin, 'sec-fetch-site': site } = headers
  // With two Host headers, a proxy may check another one than this server.
  if ((headersDistinct['host']?.length ?? 0) > 1) throw new HttpError('BAD_REQUEST', 'the request has two Host headers')
  // The owner of a domain can point it at this machine (DNS rebinding). A page of that domain has no token.
  if (token === undefined && !isLoopback(hostNameOf(host)))
    throw new HttpError('FORBIDDEN', `${host} is not a name of this machine, and the server has no token`)
  response.setHeader('Vary', 'Origin')
  if (origin === undefined) {
    // Programs that are not browsers send neither header.
    const isOwnPage = site === undefined || site === 'same-origin' || site === 'none'
    // A page of another site can cause a GET without an origin, for example with an image. A link to this page is
    // allowed.
    const isLink = method === 'GET' && (site === 'same-site' || headers['sec-fetch-mode'] === 'navigate')
    if (!isOwnPage && !isLink) throw new HttpError('FORBIDDEN', 'pages of other sites are not allowed')
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
  const { authorization, 'x-api-key': key } = request.headers
  const isGiven = authorization !== undefined || key !== undefined
  throw new HttpError(
    'UNAUTHORIZED',
    isGiven ? 'the token is not the token of the server' : 'a token is needed: Authorization: Bearer TOKEN',
  )
}

function hostNameOf(host: string): string {
  const url = `http://${host}`
  return URL.canParse(url) ? new URL(url).hostname.replaceAll(/[[\]]/g, '') : ''
}
