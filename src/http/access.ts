import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** Whether only this machine reaches an address, or a name of one. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d+){3}$/.test(host)
}

/** Whether a request has `Authorization: Bearer TOKEN`. Undefined: none is needed. */
export function hasToken({ headers }: Pick<IncomingMessage, 'headers'>, token: string | undefined): boolean {
  if (token === undefined) return true
  // Digests have the same length, so that the comparison takes the same time for every token.
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(headers.authorization ?? ''), digest(`Bearer ${token}`))
}
