import { beforeAll, afterAll, describe, expect, it } from 'vitest'
import { webFetch } from '../../src/index.js'
import { fetcherFor, fetcherOf, resolverOf } from '../support/web/page-fetcher.js'
import { body, redirect, startWebServer, type WebServer } from '../support/web/web-server.js'
import { AttackEnvironment } from './support/attack-environment.js'

/*
 * Requests that programs and pages forge through the tool web_fetch. No row asks a real resolver or a real address: on a
 * machine without a network each would wait for a timeout of the operating system.
 */
describe('a hostile page', () => {
  it.each([
    ['to loopback', 'http://127.0.0.1/'],
    ['to loopback in another spelling', 'http://0x7f000001/'],
    ['to loopback by IPv6', 'http://[::ffff:7f00:1]/'],
    ['to the metadata of a cloud', 'http://169.254.169.254/latest/meta-data/'],
    ['to a private name', 'http://intranet.example/'],
    ['to a file', 'file:///etc/passwd'],
    ['to another protocol', 'gopher://pages.example/'],
    ['with a password', 'http://user:password@pages.example/'],
  ])('E01 redirects %s, and nothing is requested there', async (_where, target) => {
    const inside = await startWebServer({ '/': body('secret', 'text/plain') })
    const page = await startWebServer({ '/': redirect(target.replace(/(?<=\d|\])\/$/, `:${inside.port}/`)) })
    // The public page is on this host, at an address of the test that the configuration names.
    const resolver = resolverOf({ 'pages.example': ['127.0.0.1'], 'intranet.example': ['10.0.0.1'] })
    const fetch = fetcherFor(page, { ports: [80, page.port], privateAddresses: ['127.0.0.1'] }, resolver)
    await expect(fetch(`http://pages.example:${page.port}/`)).rejects.toMatchObject({ name: 'ToolError' })
    expect(inside.requested).toEqual([])
  })

  it('E02 a name that changes its address between two requests is judged for each of them', async () => {
    const inside = await startWebServer({ '/': body('secret', 'text/plain'), '/again': redirect('/') })
    const answers = [['1.1.1.1'], ['127.0.0.1']]
    const asked: string[] = []
    const rebinding = {
      asked,
      resolve: (name: string) => {
        asked.push(name)
        return Promise.resolve((answers.shift() ?? []).map((address) => ({ address, family: 4 })))
      },
    }
    // The first answer is public: the connection goes there, and not to what a second question would bring.
    const fetch = fetcherOf({ ports: [inside.port], timeout: '200ms' }, rebinding)
    await expect(fetch(`http://rebinding.example:${inside.port}/`)).rejects.toMatchObject({
      message: expect.not.stringContaining('secret'),
    })
    expect(asked).toEqual(['rebinding.example'])
    await expect(fetch(`http://rebinding.example:${inside.port}/`)).rejects.toThrow('is not public (loopback)')
    expect(inside.requested).toEqual([])
  })

  it('E03 a redirect to the same name asks again, and refuses its new address', async () => {
    const page = await startWebServer({ '/': redirect('/inside'), '/inside': body('secret', 'text/plain') })
    const answers = [['127.0.0.1'], ['169.254.169.254']]
    const resolver = {
      asked: [],
      resolve: () => Promise.resolve((answers.shift() ?? []).map((address) => ({ address, family: 4 }))),
    }
    const fetch = fetcherFor(page, {}, resolver)
    await expect(fetch(`http://rebinding.example:${page.port}/`)).rejects.toThrow('is not public (linkLocal)')
    expect(page.requested).toEqual(['/'])
  })

  it('E04 a name of the allow list whose address is private is refused', async () => {
    const inside = await startWebServer({ '/': body('secret', 'text/plain') })
    const resolver = resolverOf({ 'good.example': ['127.0.0.1'], 'mixed.good.example': ['1.1.1.1', 'fd00:ec2::254'] })
    const fetch = fetcherOf({ ports: [inside.port], allow: ['good.example'] }, resolver)
    for (const name of ['good.example', 'mixed.good.example'])
      await expect(fetch(`http://${name}:${inside.port}/`)).rejects.toThrow('is not public')
    await expect(fetch(`http://evilgood.example:${inside.port}/`)).rejects.toThrow('is not allowed')
    expect(inside.requested).toEqual([])
  })

  it('E05 a proxy of the environment does not get the request', async () => {
    const proxy = await startWebServer({})
    const page = await startWebServer({ '/': body('a', 'text/plain') })
    const names = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY', 'NODE_USE_ENV_PROXY']
    const before = names.map((name) => process.env[name])
    for (const name of names) process.env[name] = name === 'NODE_USE_ENV_PROXY' ? '1' : proxy.url('')
    try {
      expect(await fetcherFor(page)(page.url('/'))).toMatchObject({ text: 'a' })
    } finally {
      for (const [index, name] of names.entries()) {
        if (before[index] === undefined) delete process.env[name]
        else process.env[name] = before[index]
      }
    }
    expect(proxy.requested).toEqual([])
  })
})

describe('a hostile program and web_fetch', () => {
  let attackEnv: AttackEnvironment
  let inside: WebServer
  const ends: (() => void)[] = []
  beforeAll(async () => {
    inside = await startWebServer({ '/': body('secret', 'text/plain') }, (end) => void ends.push(end))
    attackEnv = await AttackEnvironment.start({ backend: 'wasm', tools: [webFetch({ ports: [80, inside.port] })] })
  })
  afterAll(async () => {
    await attackEnv.close()
    for (const end of ends) end()
  })

  it('E06 reaches no service of the host, whatever the spelling of its address', async () => {
    const { outcome } = await attackEnv.attack(`
for host in ["127.0.0.1", "localhost", "127.1", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]", "0", "a:b@127.0.0.1"]:
    try: print(await web_fetch(url=f"http://{host}:${inside.port}/"))
    except ToolError as error: print("refused" if "can't be fetched" in str(error) else error)
try: print(await web_fetch(url="http://127.0.0.1/", privateAddresses=["127.0.0.1"]))
except Exception as error: print(type(error).__name__)
`)
    expect(outcome).toEqual({ status: 'ok', output: `${'refused\n'.repeat(9)}TypeError\n` })
    expect(inside.requested).toEqual([])
  })
})
