import { ToolError } from '../../tool-error.js'
import { shownUrl } from './policy/check-url.js'
import { type FollowOptions, followRedirects } from './request/follow-redirects.js'
import { readBody } from './request/read-body.js'
import { ExpiringCache } from './expiring-cache.js'
import { runInThread } from './thread/run-in-thread.js'

/** The answer of a server about its robots.txt. */
type Rules = { readonly type: 'rules'; readonly text: string } | { readonly type: 'unavailable' }

/** RFC 9309 asks for at least 500 KiB. */
const maxBytes = 512 * 1024

const cacheMs = 10 * 60_000

/** Knows the robots.txt of servers, for all runs of a worker. */
export class Robots {
  readonly #rules = new ExpiringCache<Rules>({ maxEntries: 200, maxSize: 10_000_000, milliseconds: cacheMs })

  /**
   * Reads robots.txt with the same checks as a page.
   *
   * @throws ToolError when robots.txt excludes the URL, or its server fails (RFC 9309: then nothing may be fetched);
   *   errors of the network
   */
  async check(url: URL, options: Omit<FollowOptions, 'beforeRequest'>): Promise<void> {
    const { origin } = url
    let rules = this.#rules.get(origin)
    if (rules === undefined) {
      rules = await fetchRules(origin, options)
      this.#rules.set(origin, rules, rules.type === 'rules' ? rules.text.length : 0)
    }
    if (rules.type === 'unavailable')
      throw new ToolError(`robots.txt of ${origin} is not available, so nothing is fetched`)
    if (rules.text === '') return
    const { userAgent, signal } = options
    const isAllowed = await runInThread({ kind: 'robots', rules: rules.text, url: url.href, userAgent }, signal)
    if (!isAllowed) throw new ToolError(`${shownUrl(url.href)} is excluded by robots.txt of its server`)
  }
}

async function fetchRules(origin: string, options: Omit<FollowOptions, 'beforeRequest'>): Promise<Rules> {
  const { response } = await followRedirects(`${origin}/robots.txt`, options)
  const { statusCode = 500 } = response
  if (statusCode >= 200 && statusCode < 300) {
    return { type: 'rules', text: (await readBody(response, maxBytes)).toString('utf8') }
  }
  response.destroy()
  // A server without the file allows everything.
  return statusCode >= 400 && statusCode < 500 ? { type: 'rules', text: '' } : { type: 'unavailable' }
}
