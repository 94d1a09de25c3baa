import type { IncomingHttpHeaders } from 'node:http'
import { ApiRefusal, invalid } from './refusal.js'

const versions = ['2023-01-01', '2023-06-01']

/**
 * Key, version and content type, checked in the API's order.
 *
 * @param apiKey the only key that is let in; any key is when undefined
 * @throws ApiRefusal
 */
export function checkHeaders(headers: IncomingHttpHeaders, apiKey: string | undefined): void {
  checkKey(headers, apiKey)
  const version = headers['anthropic-version']
  if (version === undefined) throw invalid('anthropic-version: header is required')
  if (typeof version !== 'string' || !versions.includes(version)) {
    throw invalid(`anthropic-version: "${String(version)}" is not a valid version`)
  }
  const contentType = headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  if (contentType !== 'application/json') throw invalid('content-type: must be application/json')
}

function checkKey(headers: IncomingHttpHeaders, apiKey: string | undefined): void {
  const key = headers['x-api-key']
  const bearer = headers.authorization?.match(/^Bearer (.+)$/i)?.[1]
  if (typeof key !== 'string' || key === '') {
    if (bearer === undefined) throw new ApiRefusal('authentication_error', 'x-api-key header is required')
    if (apiKey !== undefined && bearer !== apiKey) throw new ApiRefusal('authentication_error', 'Invalid bearer token')
    return
  }
  if (apiKey !== undefined && key !== apiKey) throw new ApiRefusal('authentication_error', 'invalid x-api-key')
}

const secretHeaders = new Set(['x-api-key', 'authorization', 'proxy-authorization', 'cookie'])

/** Headers fit for a log: credentials are replaced by `redacted`. */
export function redactedHeaders(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, secretHeaders.has(name) ? 'redacted' : String(value)]),
  )
}
