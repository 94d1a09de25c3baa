import { describe, expect, it } from 'vitest'
import { webFetch } from '../../src/index.js'
import { callTool } from '../support/call-tool.js'
import { fetcherFor, fetcherOf, resolverOf } from '../support/web/page-fetcher.js'
import { body, redirect, startWebServer } from '../support/web/web-server.js'

/*
 * Requests that programs and pages forge through the tool web_fetch. No row connects to another host or asks a name
 * server: on a machine without a network each would wait for a timeout of the operating system. No row starts a sandbox,
 * which takes most of the time of other attacks: test/integration/built-in/runs.test.ts calls the tool from one.
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

it('E06 a hostile call reaches no service of the host, whatever the spelling of its address', async () => {
  const inside = await startWebServer({ '/': body('secret', 'text/plain') })
  const tool = webFetch({ ports: [inside.port] })
  const hosts = '127.0.0.1 localhost 127.1 2130706433 0x7f.1 0177.0.0.1 [::1] [::ffff:127.0.0.1] 0 a:b@127.0.0.1'
  for (const host of hosts.split(' ')) {
    const calling = callTool(tool, { url: `http://${host}:${inside.port}/` })
    await expect(calling, host).rejects.toMatchObject({
      name: 'ToolError',
      message: expect.stringMatching(/can't be reached: its address is not public|can't be fetched: /),
    })
  }
  const url = inside.url('/')
  await expect(callTool(tool, { url, privateAddresses: ['127.0.0.1'] })).rejects.toThrow('Unrecognized key')
  expect(inside.requested).toEqual([])
})
