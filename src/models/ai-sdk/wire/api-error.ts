import { isJsonObject } from '../../../common/json/json.js'

/** A status of an API other than success, or an error within its stream. */
export class ApiError extends Error {
  /** Undefined within a stream. */
  readonly status: number | undefined
  /** The error itself: `code`, `type`. */
  readonly details: Readonly<Record<string, unknown>>
  readonly headers: Headers

  /**
   * @param body as the API sent it, parsed if it is JSON: `{"error": {…}}`, a list of it (Gemini), a text as `error`,
   *   `{"detail": …}`, `{"message": …}`
   */
  constructor(status: number | undefined, body: unknown, headers: Headers) {
    const first: unknown = Array.isArray(body) ? body[0] : body
    const error: unknown = isJsonObject(first) && first['error'] != null ? first['error'] : first
    const details = isJsonObject(error) ? error : {}
    const text = details['message'] ?? error
    super(typeof text === 'string' ? text : (JSON.stringify(text) ?? ''))
    this.name = 'ApiError'
    this.status = status
    this.details = details
    this.headers = headers
  }
}

const maxCharacters = 1_000_000

/** The JSON of a response that is not a stream, or else its text, such as the page of a proxy. */
export async function readBody({ body }: Response): Promise<unknown> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const bytes of body ?? []) {
    text += decoder.decode(bytes, { stream: true })
    if (text.length > maxCharacters) break
  }
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
