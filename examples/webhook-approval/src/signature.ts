import { createHmac, timingSafeEqual } from 'node:crypto'

/** Shared by the shop, the desk and the webhooks. */
const secret = process.env['WEBHOOK_SECRET'] ?? 'change-me'

/** HMAC-SHA256 over the bytes of a body. */
export function sign(body: Buffer): string {
  return createHmac('sha256', secret).update(body).digest('hex')
}

/** Takes the same time for every wrong signature, so that nobody finds the right one byte by byte. */
export function isSigned(body: Buffer, signature: unknown): boolean {
  if (typeof signature !== 'string') return false
  const expected = Buffer.from(sign(body))
  const given = Buffer.from(signature)
  return given.length === expected.length && timingSafeEqual(given, expected)
}
