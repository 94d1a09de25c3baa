import { expect, it, onTestFinished, vi } from 'vitest'
import { braveSearch, scriptedSearch, think, webFetch, webSearch } from '../../../src/index.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { answerResult, call, code, turn } from '../../support/script.js'
import { body, redirect, startWebServer } from '../../support/web/web-server.js'

it('an agent thinks, searches and fetches, and its code reads on in the page without a second request', async () => {
  const text = Array.from({ length: 3_000 }, (_, n) => `line ${n}`).join('\n')
  const server = await startWebServer({ '/old': redirect('/page'), '/page': body(text, 'text/plain') })
  const result = { title: 'A page', url: server.url('/old'), snippet: 'It has lines.' }
  const env = await TestEnvironment.start({
    tools: [
      think(),
      webSearch({ provider: scriptedSearch([result]) }),
      webFetch({ ports: [server.port], privateAddresses: ['127.0.0.1'] }),
    ],
    script: [
      turn(call('think', { thought: 'I look for lines.' })),
      turn(call('web_search', { query: 'lines' })),
      turn(call('web_fetch', { url: result.url, maxCharacters: 20 })),
      turn(
        code(`
found = (await web_search(query="lines", count=1))[0]
parts, start = [], 0
while True:
    page = await web_fetch(url=found["url"], start=start)
    parts.append(page["text"])
    start += len(page["text"])
    if start >= page["totalCharacters"]: break
print(len(parts), "".join(parts).splitlines()[-1], page["status"], page["url"].endswith("/page"))
missing = await web_fetch(url=found["url"].replace("/old", "/none"))
print(missing["status"], missing["text"])
try: await web_fetch(url="http://169.254.169.254/latest/meta-data/")
except ToolError as error: print(type(error).__name__, error)
`),
      ),
      answerResult,
    ],
  })
  const handle = await env.startAgent()
  await handle.result()
  const [, afterThought, afterSearch, afterFetch, afterCode] = env.api.requests.map((request) =>
    JSON.stringify(request.body),
  )
  expect(afterThought).toContain('The thought is recorded.')
  expect(afterSearch).toContain('It has lines.')
  expect(afterFetch).toContain('line 0')
  expect(afterFetch).not.toContain('line 9')
  expect(afterCode).toContain('2 line 2999 200 True')
  expect(afterCode).toContain('404 no such page')
  expect(afterCode).toContain('port 80 is not allowed')
  expect(server.requested).toEqual(['/old', '/page', '/none'])
  await env.expectCleanEnd(handle)
})

it('a program searches by the API of Brave: too many requests are repeated, and its key stays out of the run', async () => {
  vi.stubEnv('BRAVE_KEY_OF_TEST', 'the-key-of-the-test')
  onTestFinished(() => void vi.unstubAllEnvs())
  let searches = 0
  const server = await startWebServer({
    '/res/v1/web/search': (response, request) => {
      searches += 1
      if (searches === 1) return void response.writeHead(429).end()
      const description = `You sent ${String(request.headers['x-subscription-token'])}.`
      response.end(JSON.stringify({ web: { results: [{ title: 'Rain', url: 'https://example.com/', description }] } }))
    },
  })
  const env = await TestEnvironment.start({
    backend: 'wasm',
    credentials: { brave: { environment: 'BRAVE_KEY_OF_TEST' } },
    tools: [webSearch({ provider: braveSearch({ apiKey: 'brave', baseUrl: server.url('') }) })],
  })
  const { outcome } = await env.runProgram('print(await web_search(query="rain"))')
  expect(outcome).toMatchObject({ status: 'ok', output: expect.stringContaining("'url': 'https://example.com/'") })
  expect(JSON.stringify(outcome)).not.toContain('the-key-of-the-test')
  expect(searches).toBe(2)
})
