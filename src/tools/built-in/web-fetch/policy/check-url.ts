import { truncateEnd } from '../../../../common/text/text.js'
import { ToolError } from '../../../tool-error.js'
import { comparableHost } from '../../../../network/host-names.js'
import { type DomainPattern, matchesDomain } from './domains.js'

/** What `web_fetch` may fetch. */
export interface FetchPolicy {
  /** Undefined: all domains. */
  readonly allow?: readonly DomainPattern[]
  readonly deny: readonly DomainPattern[]
  readonly ports: ReadonlySet<number>
  /** Canonical addresses outside of the public internet that may be fetched. */
  readonly privateAddresses: ReadonlySet<string>
}

const maxUrlCharacters = 8_000

const defaultPorts: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 }

/**
 * Checks all of a URL that needs no resolver.
 *
 * @param base the URL that redirected to it
 * @throws ToolError
 */
export function checkUrl(text: string, { allow, deny, ports }: FetchPolicy, base?: URL): URL {
  const refuse = (reason: string) => new ToolError(`${shownUrl(text)} can't be fetched: ${reason}`)
  if (text.length > maxUrlCharacters) throw refuse(`it has over ${maxUrlCharacters} characters`)
  if (!URL.canParse(text, base?.href)) throw refuse('it is not a URL')
  const url = new URL(text, base?.href)
  const defaultPort = defaultPorts[url.protocol]
  if (defaultPort === undefined) throw refuse('only http and https are fetched')
  if (base?.protocol === 'https:' && url.protocol === 'http:') throw refuse('an https page redirected to it')
  if (url.username !== '' || url.password !== '') throw refuse('it has a user name or a password')
  const port = url.port === '' ? defaultPort : Number(url.port)
  if (!ports.has(port)) throw refuse(`port ${port} is not allowed, only ${[...ports].join(', ')}`)
  const host = comparableHost(url)
  const matches = (pattern: DomainPattern) => matchesDomain(host, pattern)
  if (deny.some(matches) || allow?.some(matches) === false) throw refuse(`the domain ${host} is not allowed`)
  url.hash = ''
  return url
}

/** For messages. */
export function shownUrl(text: string): string {
  return JSON.stringify(truncateEnd(text, 200))
}
