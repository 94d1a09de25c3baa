import type { IncomingMessage } from 'node:http'
import { ToolError } from '../../../tool-error.js'
import { checkUrl, type FetchPolicy } from '../policy/check-url.js'
import { comparableHost } from '../policy/domains.js'
import { type Resolve, resolveHost } from '../policy/resolve-host.js'
import { sendRequest } from './send-request.js'

export interface FollowOptions {
  readonly policy: FetchPolicy
  readonly resolve: Resolve
  readonly userAgent: string
  readonly signal: AbortSignal
  /** Called before each request. May throw. */
  readonly beforeRequest?: (url: URL) => Promise<void>
}

/** The response at the end of the redirects. */
export interface FinalResponse {
  readonly url: URL
  readonly response: IncomingMessage
}

const maxRedirects = 5

const redirects: ReadonlySet<number | undefined> = new Set([301, 302, 303, 307, 308])

/**
 * Requests a URL and follows its redirects. Every URL passes all checks: of the URL, of the addresses, of robots.txt.
 *
 * @throws ToolError for a URL that must not be fetched, and for too many redirects; errors of the network
 */
export async function followRedirects(text: string, options: FollowOptions): Promise<FinalResponse> {
  const { policy, resolve, userAgent, signal, beforeRequest } = options
  let url = checkUrl(text, policy)
  for (let hop = 0; ; hop++) {
    await beforeRequest?.(url)
    const { privateAddresses } = policy
    const addresses = await resolveHost(hostToResolve(url), { resolve, privateAddresses, signal })
    const response = await sendRequest(url, { addresses, userAgent, signal })
    const { location } = response.headers
    if (!redirects.has(response.statusCode) || location === undefined) return { url, response }
    response.destroy()
    if (hop === maxRedirects) throw new ToolError(`${url.host} redirected more than ${maxRedirects} times`)
    url = checkUrl(location, policy, url)
  }
}

/** A name keeps the dot of the root, with which a resolver adds no search domain. */
function hostToResolve(url: URL): string {
  const host = comparableHost(url)
  return url.hostname.endsWith('.') ? `${host}.` : host
}
