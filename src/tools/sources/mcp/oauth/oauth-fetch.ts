import { sendRequest } from '../../../network/send-request.js'
import { isSecureUrl } from './oauth-options.js'

/** Bytes of a response of an authorization server. */
const maxBytes = 256 * 1024
const timeoutMs = 30_000

type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>

/**
 * Returns the `fetch` for requests to authorization servers, whose addresses a server of somebody else names. Only
 * https, except on this machine; no address of a private network, unless the configuration names its host; bounded; no
 * redirect.
 *
 * @param configured URLs of the configuration: that of the server, and the issuer
 */
export function oauthFetch(configured: readonly string[]): Fetch {
  const hosts = new Set(configured.map((url) => new URL(url).hostname))
  return async (target, init = {}) => {
    const url = new URL(target)
    if (!isSecureUrl(url.href)) throw new Error(`${url.origin} is refused: OAuth needs https`)
    const request = new Request(url, { ...init, signal: null })
    const body = request.body === null ? undefined : new Uint8Array(await request.arrayBuffer())
    const limit = AbortSignal.timeout(timeoutMs)
    const response = await sendRequest(
      {
        method: request.method,
        url,
        headers: Object.fromEntries(request.headers),
        body,
        isConfigured: hosts.has(url.hostname),
        isRepeatable: false,
        signal: init.signal ? AbortSignal.any([init.signal, limit]) : limit,
      },
      () => maxBytes,
    )
    if (response.isCut) throw new Error(`${url.origin} sent more than ${maxBytes} bytes`)
    const { 'content-encoding': _, 'content-length': __, ...headers } = response.headers
    const hasBody = ![204, 205, 304].includes(response.status)
    return new Response(hasBody ? Buffer.from(response.body) : null, { status: response.status, headers })
  }
}
