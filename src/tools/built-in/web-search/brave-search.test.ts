import type { ServerResponse } from 'node:http'
import { expect, it } from 'vitest'
import { startWebServer } from '../../../../test/support/web/web-server.js'
import { braveSearch } from './brave-search.js'

const key = 'the-key-of-the-test'

/** Searches by a server that answers with a status and a body. */
async function searchWith(status: number, reply: unknown, headers: Record<string, string> = {}) {
  const answer = (response: ServerResponse) => {
    response.writeHead(status, headers).end(typeof reply === 'string' ? reply : JSON.stringify(reply))
  }
  const server = await startWebServer({ '/res/v1/web/search': answer })
  const provider = braveSearch({ apiKey: 'brave_key', baseUrl: server.url('') })
  const credential = (name: string) => (name === 'brave_key' ? key : '')
  const { signal } = new AbortController()
  return { server, searching: Promise.resolve(provider.search('rain & snow', { count: 3, signal, credential })) }
}

it('a search sends query, count and key, and reads title, URL and description', async () => {
  const { server, searching } = await searchWith(200, {
    type: 'search',
    web: {
      results: [
        {
          title: 'Rain &amp; <strong>snow</strong>',
          url: 'https://example.com/',
          description: 'It&#x27;s &lt;wet&gt;.',
          age: 1,
        },
        { title: 'no URL' },
        null,
      ],
    },
  })
  expect(await searching).toEqual([{ title: 'Rain & snow', url: 'https://example.com/', snippet: "It's <wet>." }])
  expect(server.requested).toEqual(['/res/v1/web/search?q=rain+%26+snow&count=3&text_decorations=false'])
  expect(server.requests[0]?.headers['x-subscription-token']).toBe(key)
})

it.each([{}, { web: null }, { web: {} }, { web: { results: [] } }])('the reply %j has no results', async (reply) => {
  expect(await (await searchWith(200, reply)).searching).toEqual([])
})

it.each([
  [400, 'ToolError'],
  [401, 'ToolError'],
  [422, 'ToolError'],
  [408, 'Error'],
  [429, 'Error'],
  [500, 'Error'],
  [503, 'Error'],
])('status %d is a %s, which decides about another attempt, without the text of the server', async (status, name) => {
  const { searching } = await searchWith(status, `your key ${key} is wrong`)
  await expect(searching).rejects.toMatchObject({ name, message: `Brave Search answered HTTP status ${status}` })
})

it.each([
  ['is no JSON', 'not JSON', 'JSON'],
  ['is of another API', { web: { results: 'none' } }, 'not one of its API'],
  ['is too large', 'x'.repeat(3_000_000), 'over 2097152 bytes'],
])('a reply that %s fails the search', async (_what, reply, message) => {
  await expect((await searchWith(200, reply)).searching).rejects.toThrow(message)
})

it('a redirect is not followed, because it would take the key to another server', async () => {
  const other = await startWebServer({})
  const { searching } = await searchWith(302, '', { Location: other.url('/') })
  await expect(searching).rejects.toThrow()
  expect(other.requested).toEqual([])
})

it('the key is the name of a credential, and never the key itself', () => {
  expect(braveSearch({ apiKey: 'brave_key' }).credentials).toEqual(['brave_key'])
  expect(() => braveSearch({ apiKey: 'BSA key with spaces' })).toThrow('must be the name of a credential')
})
