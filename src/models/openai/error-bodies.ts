import { fetchThroughProxy } from '../http/proxy-fetch.js'

/**
 * A `fetch` for the SDK, which reads an error only from `{"error": {…}}`. Other servers send a list (Gemini), a text as
 * `error`, or `{"detail": …}`.
 */
export const fetchWithErrorBodies: typeof fetch = async (...request) => {
  const response = await fetchThroughProxy(...request)
  if (response.ok) return response
  const { status, statusText, headers } = response
  return new Response(toErrorBody(await response.text()), { status, statusText, headers })
}

function toErrorBody(text: string): string {
  let body: unknown
  try {
    body = JSON.parse(text)
  } catch {
    return text
  }
  const first: unknown = Array.isArray(body) ? body[0] : body
  const error: unknown = typeof first === 'object' && first !== null && 'error' in first ? first.error : first
  return JSON.stringify({ error: typeof error === 'object' && error !== null ? error : { message: String(error) } })
}
