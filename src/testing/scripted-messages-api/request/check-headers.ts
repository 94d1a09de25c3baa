import type { IncomingHttpHeaders } from 'node:http'
import { ApiError, invalidRequest } from './api-error.js'

const versions = ['2023-06-01', '2026-10-21'] as const

/** Versions of the API. SDKs since 1.0 request the later one, which has fewer parameters. */
export type ApiVersion = (typeof versions)[number]

/**
 * Checks key, version and content type in the API's order.
 *
 * @param apiKey the accepted key; undefined: any key
 * @throws ApiError
 */
export function checkHeaders(headers: IncomingHttpHeaders, apiKey: string | undefined): ApiVersion {
  checkKey(headers, apiKey)
  const asked = headers['anthropic-version']
  if (asked === undefined) throw invalidRequest('anthropic-version: header is required')
  const version = versions.find((known) => known === asked)
  if (version === undefined) throw invalidRequest(`anthropic-version: "${String(asked)}" is not a valid version`)
  const contentType = headers['content-type']?.split(';')[0]?.trim().toLowerCase()
  if (contentType !== 'application/json') throw invalidRequest('content-type: must be application/json')
  return version
}

function checkKey(headers: IncomingHttpHeaders, apiKey: string | undefined): void {
  const key = headers['x-api-key']
  const bearer = headers.authorization?.match(/^Bearer (.+)$/i)?.[1]
  if (typeof key !== 'string' || key === '') {
    if (bearer === undefined) throw new ApiError('authentication_error', 'x-api-key header is required')
    if (apiKey !== undefined && bearer !== apiKey) throw new ApiError('authentication_error', 'Invalid bearer token')
    return
  }
  if (apiKey !== undefined && key !== apiKey) throw new ApiError('authentication_error', 'invalid x-api-key')
}

const secretHeaders = new Set(['x-api-key', 'authorization', 'proxy-authorization', 'cookie'])

/** Replaces credentials in headers by `redacted`. */
export function redactedHeaders(headers: IncomingHttpHeaders): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, secretHeaders.has(name) ? 'redacted' : String(value)]),
  )
}
