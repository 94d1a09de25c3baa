import { expect, it } from 'vitest'
import { callTool } from '../../../../test/support/call-tool.js'
import { scriptedSearch } from './scripted-search.js'
import type { SearchProvider } from './search-provider.js'
import { webSearch } from './web-search.js'

const page = (n: number) => ({ title: `Page ${n}`, url: `https://example.com/${n}`, snippet: `About ${n}.` })

/** A provider that sends what its types forbid. */
const providerOf = (results: unknown): SearchProvider => ({ name: 'odd', search: () => results as never })

it('a search returns titles, URLs and snippets, at most as many as asked for', async () => {
  const pages = Array.from({ length: 30 }, (_, n) => page(n))
  const tool = webSearch({ provider: scriptedSearch(pages) })
  expect(tool).toMatchObject({ name: 'web_search', effect: 'read', credentials: [] })
  expect(tool.description).toContain('untrusted')
  expect(await callTool(tool, { query: 'rain', count: 2 })).toEqual(pages.slice(0, 2))
  expect(await callTool(tool, { query: 'rain' })).toEqual(pages.slice(0, 10))
})

it('a scripted provider may answer by query', async () => {
  const tool = webSearch({ provider: scriptedSearch((query) => (query === 'rain' ? [page(1)] : [])) })
  expect(await callTool(tool, { query: ' rain ' })).toEqual([page(1)])
  expect(await callTool(tool, { query: 'snow' })).toEqual([])
})

it.each([
  ['an empty query', { query: ' ' }],
  ['a query of 401 characters', { query: 'x'.repeat(401) }],
  ['21 results', { query: 'x', count: 21 }],
])('a search for %s is refused', (_what, input) => {
  expect(webSearch({ provider: scriptedSearch([]) }).input.safeParse(input).success).toBe(false)
})

it('results are bounded: long texts are cut, and what is no page of the web is left out', async () => {
  const provider = providerOf([
    null,
    'text',
    { title: 'no URL' },
    { title: 'script', url: 'javascript:alert(1)' },
    { title: 'long', url: `https://example.com/${'x'.repeat(2_000)}` },
    { title: 'T'.repeat(5_000), url: 'https://example.com/', snippet: 'S'.repeat(5_000), extra: 1 },
    { url: 'http://example.com/bare' },
  ])
  expect(await callTool(webSearch({ provider }), { query: 'x' })).toEqual([
    { title: 'T'.repeat(300), url: 'https://example.com/', snippet: 'S'.repeat(1_000) },
    { title: '', url: 'http://example.com/bare', snippet: '' },
  ])
  const nothing = callTool(webSearch({ provider: providerOf('text') }), { query: 'x' })
  await expect(nothing).rejects.toThrow('search provider odd did not return an array')
})

it('the configuration is refused without a provider, and with an unknown option', () => {
  expect(() => webSearch({} as never)).toThrow('provider: must be a provider')
  expect(() => webSearch({ provider: scriptedSearch([]), apiKey: 'x' } as never)).toThrow('apiKey')
})
