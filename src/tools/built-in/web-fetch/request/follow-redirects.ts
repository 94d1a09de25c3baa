import type { IncomingMessage } from 'node:http'
import { raceWithSignal } from '../../../../common/async/abort.js'
import { comparableHost } from '../../../../network/host-names.js'
import {
  pinnedLookup,
  type Resolve,
  type ResolvedAddress,
  resolveHost,
  UnusableHostError,
} from '../../../../network/resolve-host.js'
import { openResponse } from '../../../network/open-response.js'
import { acceptedEncodings } from '../../../network/read-response.js'
import { ToolError } from '../../../tool-error.js'
import { checkUrl, type FetchPolicy } from '../policy/check-url.js'

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
    const addresses = await resolveHost(hostToResolve(url), { resolve, privateAddresses, signal }).catch(refuseHost)
    const response = await request(url, { addresses, userAgent, signal })
    const { location } = response.headers
    if (!redirects.has(response.statusCode) || location === undefined) return { url, response }
    response.destroy()
    if (hop === maxRedirects) throw new ToolError(`${url.host} redirected more than ${maxRedirects} times`)
    url = checkUrl(location, policy, url)
  }
}

interface RequestOptions {
  /** Judged addresses of the URL's host. */
  readonly addresses: readonly ResolvedAddress[]
  readonly userAgent: string
  /** Ends the request, and the body that is being read. */
  readonly signal: AbortSignal
}

/**
 * Sends a GET request without cookies and credentials.
 *
 * @returns a response whose body nobody has read: its owner destroys it
 */
async function request(url: URL, { addresses, userAgent, signal }: RequestOptions): Promise<IncomingMessage> {
  const headers = {
    'User-Agent': userAgent,
    Accept: 'text/html, application/xhtml+xml, text/*, application/json, application/pdf;q=0.9, */*;q=0.1',
    'Accept-Encoding': acceptedEncodings,
  }
  // A connection of its own: a pool would give the connection of an earlier answer of the resolver.
  const opened = openResponse({ method: 'GET', url, headers, agent: false, lookup: pinnedLookup(addresses) })
  const stop = () => opened.request.destroy()
  // The listener stays while the body is read: the owner of the signal makes it for one page.
  signal.addEventListener('abort', stop, { once: true })
  return raceWithSignal(signal, opened.response)
}

/** A name keeps the dot of the root, with which a resolver adds no search domain. */
function hostToResolve(url: URL): string {
  const host = comparableHost(url)
  return url.hostname.endsWith('.') ? `${host}.` : host
}

function refuseHost(thrown: unknown): never {
  throw thrown instanceof UnusableHostError ? new ToolError(thrown.message, { cause: thrown }) : thrown
}
