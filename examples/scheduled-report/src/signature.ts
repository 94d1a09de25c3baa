/** Signatures of https://www.standardwebhooks.com: any library for it can check them. */
import { createHmac, timingSafeEqual } from 'node:crypto'

/** Of the environment, so that it is in no history. Worker and receiver share it. */
function secret(): Buffer {
  const encoded = process.env['CALLBACK_SECRET']
  if (!encoded) throw new Error('CALLBACK_SECRET is not set. Make one with `openssl rand -base64 32`.')
  return Buffer.from(encoded.replace(/^whsec_/, ''), 'base64')
}

export interface SignedHeaders {
  readonly 'webhook-id': string
  /** Seconds since 1970. */
  readonly 'webhook-timestamp': string
  readonly 'webhook-signature': string
}

export function sign(id: string, body: string, timestamp = Math.floor(Date.now() / 1_000)): SignedHeaders {
  const digest = createHmac('sha256', secret()).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': String(timestamp), 'webhook-signature': `v1,${digest}` }
}

/** Nobody can send an old callback again. */
const toleranceSeconds = 300

export function isSigned(body: string, headers: Readonly<Record<string, unknown>>): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers
  if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof signatures !== 'string') return false
  if (!(Math.abs(Date.now() / 1_000 - Number(timestamp)) <= toleranceSeconds)) return false
  const expected = Buffer.from(sign(id, body, Number(timestamp))['webhook-signature'])
  // Several, while the secret is being changed.
  return signatures.split(' ').some((signature) => {
    const given = Buffer.from(signature)
    return given.length === expected.length && timingSafeEqual(given, expected)
  })
}
