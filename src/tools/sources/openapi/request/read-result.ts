import type { JsonValue } from '../../../../common/json/json.js'
import { truncateMiddle } from '../../../../common/text/text.js'
import type { ReceivedResponse } from '../../../network/send-request.js'
import { isJsonType, plainType } from '../document/media-types.js'

/** Bytes of the body of a successful response. */
export const maxResultBytes = 16 * 1024 * 1024
/** Bytes of the body of any other response. */
export const maxErrorBytes = 64 * 1024
const maxErrorCharacters = 1_500

/** Whether the call succeeded: the status alone decides, and never what can be read of the body. */
export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300
}

/**
 * The result of a call for code: JSON, or a text. Bytes that are neither are in Base64. Null for an empty body.
 */
export function resultOf({ headers, body }: Pick<ReceivedResponse, 'headers' | 'body'>): JsonValue {
  if (body.length === 0) return null
  const type = headers['content-type'] ?? ''
  const text = textOf(body, type)
  if (isJsonType(type) || type === '') {
    try {
      return JSON.parse(text ?? '') as JsonValue
    } catch {
      // A body that is not what its header says is still the result of a call that succeeded.
    }
  }
  return text ?? { contentType: plainType(type), base64: Buffer.from(body).toString('base64') }
}

/** The result of a call whose headers code may read. A cookie is a credential of the connection. */
export function responseOf(response: Pick<ReceivedResponse, 'status' | 'headers' | 'body'>): JsonValue {
  const { 'set-cookie': _, ...headers } = response.headers
  return { status: response.status, headers, body: resultOf(response) }
}

/** Undefined for bytes that are not a text. */
function textOf(body: Uint8Array, type: string): string | undefined {
  const charset = /charset="?([\w-]+)/i.exec(type)?.[1] ?? 'utf-8'
  try {
    return new TextDecoder(charset, { fatal: true }).decode(body)
  } catch {
    return undefined
  }
}

/** The status and the begin of the body, in which APIs say what is wrong. */
export function errorTextOf({ status, headers, body, isCut }: ReceivedResponse, statusText: string): string {
  const text = (textOf(body, headers['content-type'] ?? '') ?? new TextDecoder().decode(body)).trim()
  const isText = !text.slice(0, 200).includes('\0')
  const shown = isText ? truncateMiddle(text, maxErrorCharacters) : `${body.length} bytes`
  const head = `HTTP ${status}${statusText === '' ? '' : ` ${statusText}`}`
  const retryAfter = headers['retry-after']
  const wait = retryAfter === undefined ? '' : ` (retry after ${retryAfter.slice(0, 50)})`
  return `${head}${wait}${shown === '' ? '' : `: ${shown}`}${isCut ? ' …' : ''}`
}
