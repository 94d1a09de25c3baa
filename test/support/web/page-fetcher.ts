import { PageFetcher } from '../../../src/tools/built-in/web-fetch/page-fetcher.js'
import type { Page } from '../../../src/tools/built-in/web-fetch/page.js'
import { webFetchOptions } from '../../../src/tools/built-in/web-fetch/options.js'
import type { Resolve } from '../../../src/network/resolve-host.js'
import type { WebFetchOptions } from '../../../src/index.js'
import type { WebServer } from './web-server.js'

/** Fetches a page for a run. */
export type Fetch = (url: string, run?: string, signal?: AbortSignal) => Promise<Page>

/** A resolver that knows these names, and counts its questions. No test asks a real one: its answer may take seconds. */
export function resolverOf(names: Readonly<Record<string, readonly string[]>>) {
  const asked: string[] = []
  const resolve: Resolve = (name) => {
    asked.push(name)
    const addresses = names[name]
    if (addresses === undefined) return Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }))
    return Promise.resolve(addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })))
  }
  return { resolve, asked }
}

/** Fetches as a tool with these options does. */
export function fetcherOf(options: WebFetchOptions = {}, { resolve } = resolverOf({})): Fetch {
  const fetcher = new PageFetcher(webFetchOptions.parse(options), resolve)
  return (url, run = 'run', signal = new AbortController().signal) => fetcher.fetch(url, run, signal)
}

/** Fetches from a server of the test, and from nothing else on this host. */
export function fetcherFor(
  { port }: Pick<WebServer, 'port'>,
  options: WebFetchOptions = {},
  resolver = resolverOf({}),
): Fetch {
  return fetcherOf({ ports: [port], privateAddresses: ['127.0.0.1'], ...options }, resolver)
}
