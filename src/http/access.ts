import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { HttpError } from './http-error.js'

export interface Access {
  /** Undefined: requests need no token. */
  readonly token: string | undefined
  /** Origins of other web pages that may send requests. */
  readonly origins: ReadonlySet<string>
}

/** Headers of Temporal's UI, of event streams, and of MCP. */
const allowedHeaders = [
  'Authorization',
  'Authorization-Extras',
  'Content-Type',
  'Last-Event-ID',
  'Mcp-Method',
  'Mcp-Name',
  'MCP-Protocol-Version',
  'Mcp-Session-Id',
  'User-Agent',
  'X-Namespace',
]

/** Whether an address, or the name of one, is reachable only from this machine. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d+){3}$/.test(host)
}

/**
 * Refuses requests of web pages that have no access (invariant 2).
 *
 * @throws HttpError BAD_REQUEST, FORBIDDEN
 */
export function checkOrigin(
  { method, headers, headersDistinct }: IncomingMessage,
  response: ServerResponse,
  { token, origins }: Access,
): void {
  const { host = '', origin, 'sec-fetch-site': site } = headers
  // With two Host headers, a proxy may check another one than this server.
  if ((headersDistinct['host']?.length ?? 0) > 1) throw new HttpError('BAD_REQUEST', 'the request has two Host headers')
  // Invariant 1. The owner of a domain can point it at this machine (DNS rebinding). A page of that domain has no token.
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
  // For the cookie of a proxy in front of this server.
  response.setHeader('Access-Control-Allow-Credentials', 'true')
  response.setHeader('Access-Control-Allow-Methods', 'GET, POST, PUT, DELETE, OPTIONS')
  response.setHeader('Access-Control-Allow-Headers', allowedHeaders.join(', '))
  response.setHeader('Access-Control-Expose-Headers', 'Content-Disposition, Mcp-Session-Id')
  response.setHeader('Access-Control-Max-Age', '600')
}

/**
 * Refuses requests without the token in `Authorization: Bearer TOKEN` or `X-Api-Key: TOKEN`.
 *
 * @throws HttpError UNAUTHORIZED
 */
export function checkToken({ headers }: IncomingMessage, response: ServerResponse, token: string | undefined): void {
  if (token === undefined) return
  const { authorization, 'x-api-key': key } = headers
  const given = [authorization, typeof key === 'string' ? `Bearer ${key}` : undefined].filter(
    (each) => each !== undefined,
  )
  // Invariant 1: digests have equal lengths.
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  if (given.filter((each) => timingSafeEqual(digest(each), digest(`Bearer ${token}`))).length > 0) return
  response.setHeader('WWW-Authenticate', 'Bearer')
  throw new HttpError(
    'UNAUTHORIZED',
    given.length > 0 ? 'the token is not the token of the server' : 'a token is needed: Authorization: Bearer TOKEN',
  )
}

function hostNameOf(host: string): string {
  const url = `http://${host}`
  return URL.canParse(url) ? new URL(url).hostname.replaceAll(/[[\]]/g, '') : ''
}
