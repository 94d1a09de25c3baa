import { createHash } from 'node:crypto'

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

/**
 * Returns an id in the API's format (`msg_01…`, `toolu_01…`, `req_011C…`). The same seed gives the same id, so that a
 * retried turn gets the same bytes.
 */
export function identifier(prefix: 'msg_01' | 'toolu_01' | 'req_011C', seed: readonly unknown[]): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([prefix, ...seed]))
    .digest()
  const letters = [...digest.subarray(0, 22)].map((byte) => alphabet[byte % alphabet.length])
  return prefix + letters.join('').slice(0, prefix === 'req_011C' ? 20 : 22)
}
