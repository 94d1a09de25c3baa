import { raceWithSignal, raceWithTimeLimit } from '../../../common/async/abort.js'
import { ConcurrencyLimit } from '../../../common/async/concurrency-limit.js'
import { defined } from '../../../common/defined.js'
import { formatDuration } from '../../../common/text/duration.js'
import { takeStart } from '../../../common/text/text.js'
import { packageInfo } from '../../../platform/package-info.js'
import { ToolError } from '../../tool-error.js'
import { readContentType } from './content/content-type.js'
import { decodeBody } from './content/decode-body.js'
import { ExpiringCache } from './expiring-cache.js'
import { maxPageCharacters, type ParsedWebFetchOptions } from './options.js'
import type { Page } from './page.js'
import { canonicalAddress } from '../../../network/addresses.js'
import { type FetchPolicy, shownUrl } from './policy/check-url.js'
import { type Resolve, resolveBySystem } from '../../../network/resolve-host.js'
import { type FinalResponse, type FollowOptions, followRedirects } from './request/follow-redirects.js'
import { readBody } from './request/read-body.js'
import { Robots } from './robots.js'
import { runInThread } from './thread/run-in-thread.js'

/** How long a run gets the same page again, and how many characters a worker keeps for all runs. */
const cache = { maxEntries: 200, maxSize: 20_000_000, milliseconds: 5 * 60_000 }

/** Fetches pages for the calls of one tool on one worker. */
export class PageFetcher {
  readonly #options: ParsedWebFetchOptions
  readonly #policy: FetchPolicy
  readonly #resolve: Resolve
  readonly #userAgent = `durable-ptc/${packageInfo().version}`
  readonly #robots = new Robots()
  readonly #pages = new ExpiringCache<Page>(cache)
  /** Calls of one run for the same URL are made one after the other: the second one gets the page of the first. */
  readonly #sameUrl = new ConcurrencyLimit(1)

  constructor(options: ParsedWebFetchOptions, resolve: Resolve = resolveBySystem) {
    const { allow, deny, ports, privateAddresses } = options
    this.#options = options
    this.#policy = {
      ...defined({ allow }),
      deny,
      ports: new Set(ports),
      privateAddresses: new Set(privateAddresses.map((address) => canonicalAddress(address) ?? address)),
    }
    this.#resolve = resolve
  }

  /**
   * @param run identity of the run: no run gets the pages of another one
   * @throws ToolError for what must not or can't be fetched; errors of the network; the reason of the signal
   */
  fetch(url: string, run: string, signal: AbortSignal): Promise<Page> {
    const key = JSON.stringify([run, url.replace(/#.*/s, '')])
    const load = async (): Promise<Page> => {
      signal.throwIfAborted()
      const kept = this.#pages.get(key)
      if (kept !== undefined) return kept
      const page = await this.#fetchInTime(url, signal)
      // A server with a passing problem may answer otherwise a moment later.
      const isPassing = page.status >= 500 || page.status === 429
      if (!isPassing) this.#pages.set(key, page, page.text.length + key.length)
      return page
    }
    return raceWithSignal(signal, this.#sameUrl.run(load, key))
  }

  async #fetchInTime(url: string, signal: AbortSignal): Promise<Page> {
    const { timeout } = this.#options
    let limited = signal
    try {
      return await raceWithTimeLimit(signal, timeout, (derived) => {
        limited = derived
        return this.#fetch(url, derived)
      })
    } catch (thrown) {
      signal.throwIfAborted()
      if (!limited.aborted) throw thrown
      throw new ToolError(`${shownUrl(url)} was not fetched within ${formatDuration(timeout)}`, { cause: thrown })
    }
  }

  async #fetch(url: string, signal: AbortSignal): Promise<Page> {
    const common = { policy: this.#policy, resolve: this.#resolve, userAgent: this.#userAgent, signal }
    const options: FollowOptions = this.#options.robots
      ? { ...common, beforeRequest: (next) => this.#robots.check(next, common) }
      : common
    const final = await followRedirects(url, options)
    try {
      return await this.#read(final, signal)
    } finally {
      final.response.destroy()
    }
  }

  async #read({ url, response }: FinalResponse, signal: AbortSignal): Promise<Page> {
    const { statusCode: status = 0, headers } = response
    const page = { url: url.href, status }
    const announced = readContentType(headers['content-type'])
    // A body that is no text is not read.
    if (announced.type !== '' && announced.kind === undefined)
      return withoutText({ ...page, contentType: announced.type }, headers['content-length'])
    const body = await readBody(response, this.#options.maxBytes)
    const { type, charset, kind } = readContentType(headers['content-type'], body)
    const contentType =
      type === '' ? (kind === 'pdf' ? 'application/pdf' : kind === 'html' ? 'text/html' : 'text/plain') : type
    if (body.length === 0) return { ...page, contentType, text: '' }
    switch (kind) {
      case undefined:
        return withoutText({ ...page, contentType: 'application/octet-stream' }, String(body.length))
      case 'text':
        return { ...page, contentType, text: takeStart(decodeBody(body, charset, false), maxPageCharacters) }
      case 'html': {
        const html = decodeBody(body, charset, true)
        const job = { kind, html, base: url.href, maxCharacters: maxPageCharacters } as const
        return { ...page, contentType, ...(await runInThread(job, signal)) }
      }
      case 'pdf': {
        const job = { kind, bytes: new Uint8Array(body), maxCharacters: maxPageCharacters } as const
        return { ...page, contentType, ...(await runInThread(job, signal)) }
      }
    }
  }
}

/**
 * The status of a failed request says more than its picture.
 *
 * @throws ToolError for a page with a successful status
 */
function withoutText(page: Omit<Page, 'text' | 'title'>, bytes: string | undefined): Page {
  if (page.status >= 300) return { ...page, text: '' }
  const size = bytes === undefined || !/^\d+$/.test(bytes) ? 'unknown size' : `${bytes} bytes`
  throw new ToolError(`${shownUrl(page.url)} is ${page.contentType} (${size}): only text, HTML, JSON and PDF are read`)
}
