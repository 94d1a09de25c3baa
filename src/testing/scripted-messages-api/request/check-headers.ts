import type { IncomingHttpHeaders } from 'node:http'
import { ApiError, invalidRequest } from './api-error.js'
import type { PromptRequest } from './request-schema.js'

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

/**
 * Refuses a field of a beta that the header does not name.
 *
 * @throws ApiError
 */
export function checkBetas(headers: IncomingHttpHeaders, { context_management: edits, thinking }: PromptRequest): void {
  if (!edits) return
  if (!String(headers['anthropic-beta'] ?? '').includes('context-management-2025-06-27'))
    throw invalidRequest('context_management: Extra inputs are not permitted')
  const types = edits.edits?.map(({ type }) => type) ?? []
  const position = types.indexOf('clear_thinking_20251015')
  if (position > 0) throw invalidRequest('context_management: clear_thinking_20251015 must be the first edit')
  if (position === 0 && thinking?.type !== 'enabled' && thinking?.type !== 'adaptive')
    throw invalidRequest('context_management: clear_thinking_20251015 requires thinking to be enabled or adaptive')
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
