import { z } from 'zod'
import { ToolError } from '../../tool-error.js'
import { credentialNamePattern } from '../../credentials/credential-source.js'
import { parseOptions } from '../parse-options.js'
import { readBoundedText } from './read-bounded-text.js'
import type { SearchProvider, SearchResult } from './search-provider.js'

/** Options of `braveSearch`. */
export interface BraveSearchOptions {
  /** Name of the credential of the configuration that has the API key. */
  readonly apiKey: string
  /** Address of the API. Default `https://api.search.brave.com`. */
  readonly baseUrl?: string
}

const optionsSchema = z.strictObject({
  apiKey: z.string().regex(credentialNamePattern, 'must be the name of a credential of the configuration'),
  baseUrl: z.url({ protocol: /^https?$/ }).default('https://api.search.brave.com'),
})

const maxBytes = 2 * 1024 * 1024

/** A reply with other members than these is used without them. */
const reply = z.object({
  web: z
    .object({
      results: z.array(z.unknown()).default([]),
    })
    .nullish(),
})

const found = z.object({ title: z.string().default(''), url: z.string(), description: z.string().default('') })

/**
 * The web search of the Brave Search API.
 *
 * @throws PtcError CONFIG_INVALID
 */
export function braveSearch(options: BraveSearchOptions): SearchProvider {
  const { apiKey, baseUrl } = parseOptions('braveSearch', optionsSchema, options)
  return {
    name: 'brave',
    credentials: [apiKey],
    async search(query, { count, signal, credential }) {
      const url = new URL('/res/v1/web/search', baseUrl)
      url.search = new URLSearchParams({ q: query, count: String(count), text_decorations: 'false' }).toString()
      const headers = { Accept: 'application/json', 'X-Subscription-Token': credential(apiKey) }
      // A redirect would take the key to another server.
      const response = await fetch(url, { headers, signal, redirect: 'error' })
      const text = await readBoundedText(response, maxBytes)
      if (!response.ok) throw errorOf(response.status)
      return resultsOf(text)
    },
  }
}

/** The text of an error is not passed on: it is of no use to a model, and could have the key in it. */
function errorOf(status: number): Error {
  const message = `Brave Search answered HTTP status ${status}`
  const isPassing = status === 408 || status === 429 || status >= 500
  return isPassing ? new Error(message) : new ToolError(message)
}

function resultsOf(text: string): readonly SearchResult[] {
  const parsed = reply.safeParse(JSON.parse(text))
  if (!parsed.success) throw new Error('Brave Search sent a reply that is not one of its API')
  return (parsed.data.web?.results ?? []).flatMap((result) => {
    const { data } = found.safeParse(result)
    return data === undefined ? [] : [{ title: plain(data.title), url: data.url, snippet: plain(data.description) }]
  })
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", '#x27': "'" }

/** Titles and descriptions have a few tags and entities of HTML. */
function plain(html: string): string {
  const withoutTags = html.replace(/<\/?[a-z][a-z0-9]*>/gi, '')
  return withoutTags.replace(
    /&(amp|lt|gt|quot|#39|#x27);/gi,
    (all, name: string) => entities[name.toLowerCase()] ?? all,
  )
}
