import { createHash, timingSafeEqual } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

/** Whether an address, or the name of one, is reachable only from this machine. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d+){3}$/.test(host)
}

/**
 * Whether a request has `Authorization: Bearer TOKEN`. True when `token` is undefined.
 *
 * @param keyHeader another header that may have the bare token
 */
export function hasToken(
  { headers }: Pick<IncomingMessage, 'headers'>,
  token: string | undefined,
  keyHeader?: 'x-api-key',
): boolean {
  if (token === undefined) return true
  // Digests have equal lengths, so the comparison takes the same time for every token.
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  const key = keyHeader && headers[keyHeader]
  const given = [headers.authorization ?? '', ...(typeof key === 'string' ? [`Bearer ${key}`] : [])]
  return given.filter((each) => timingSafeEqual(digest(each), digest(`Bearer ${token}`))).length > 0
}
