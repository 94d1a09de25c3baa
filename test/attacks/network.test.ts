import { connect } from 'node:net'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import type { NetworkTarget } from '../../src/common/run/network.js'
import type { Resolve } from '../../src/network/resolve-host.js'
import { exchangeBytes, fetchBy, startProxy } from '../support/network/proxy.js'
import { resolverOf } from '../support/web/page-fetcher.js'
import { body, redirect, startWebServer } from '../support/web/web-server.js'

/*
 * Requests of hostile programs to the proxy of their sandbox. No row connects to another host or asks a name server, and
 * none starts a sandbox: slow/network.test.ts has the ways around the proxy.
 */
const connectHead = (authority: string) => `CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n\r\n`

/** A resolver whose answers follow each other, for every name. */
function rebinding(...answers: readonly (readonly string[])[]) {
  const asked: string[] = []
  const resolve: Resolve = (name) => {
    const answer = answers[asked.push(name) - 1] ?? []
    return Promise.resolve(answer.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })))
  }
  return { resolve, asked }
}

describe('a hostile program and the proxy of its sandbox', () => {
  it('N01 a name that changes its address is resolved once for each request, and judged each time', async () => {
    const inside = await startWebServer({ '/': body('inside') })
    const { port } = inside
    const { resolve, asked } = rebinding(['127.0.0.1'], ['127.0.0.2'], ['10.0.0.1'], ['169.254.169.254'])
    const proxy = await startProxy(
      [
        { host: 'rebinding.test', port },
        { host: '127.0.0.1', port },
      ],
      { resolve },
    )
    expect(await fetchBy(proxy.port, `http://rebinding.test:${port}/`)).toMatchObject({ status: 200 })
    expect(asked).toHaveLength(1)
    for (let count = 0; count < 3; count++)
      expect(await fetchBy(proxy.port, `http://rebinding.test:${port}/`)).toMatchObject({
        status: 403,
        body: expect.stringMatching(/its address is not public \(\w+\) \(address\)/),
      })
    expect(asked).toHaveLength(4)
    expect(inside.requested).toEqual(['/'])
  })

  it.each([
    ['127.0.0.1'],
    ['1.1.1.1', '127.0.0.1'],
    ['10.1.2.3'],
    ['100.64.0.1'],
    ['169.254.169.254'],
    ['168.63.129.16'],
    ['0.0.0.0'],
    ['::1'],
    ['::'],
    ['::ffff:127.0.0.1'],
    ['::ffff:7f00:1'],
    ['::127.0.0.1'],
    ['64:ff9b::7f00:1'],
    ['64:ff9b:1::7f00:1'],
    ['2002:7f00:1::'],
    ['2001::1'],
    ['fe80::1'],
    ['fd00:ec2::254'],
    ['fc00::1'],
  ])('N02 an allowed name with the address %s is not reached, by any method', async (...addresses) => {
    const { resolve } = resolverOf({ 'api.test': addresses })
    const proxy = await startProxy([{ host: 'api.test' }], { resolve })
    expect(await fetchBy(proxy.port, 'http://api.test/')).toMatchObject({ status: 403 })
    expect((await exchangeBytes(proxy.port, connectHead('api.test:443'))).toString()).toMatch(/^HTTP\/1\.1 403 /)
    expect(proxy.access.events).toMatchObject([{ rule: 'address' }, { rule: 'address' }])
  })

  it('N03 a message about an address that is not allowed does not tell it', async () => {
    const { resolve } = resolverOf({ 'intranet.test': ['10.20.30.40'] })
    const proxy = await startProxy([{ host: 'intranet.test' }], { resolve })
    const { body: text, reason } = await fetchBy(proxy.port, 'http://intranet.test/')
    expect(text + reason).not.toContain('10.20')
  })

  it('N04 an address that has no entry is reached in no spelling, by CONNECT, plain HTTP or a redirect', async () => {
    const inside = await startWebServer({ '/': body('inside') })
    const { port } = inside
    const { resolve, asked } = resolverOf({})
    const targets: readonly NetworkTarget[] = [
      { host: 'api.test', port },
      { host: '0.0.1', subdomains: true, port },
    ]
    const proxy = await startProxy(targets, { resolve })
    const hosts = [
      '127.0.0.1',
      '127.1',
      '2130706433',
      '0x7f000001',
      '0177.0.0.1',
      '0',
      '[::1]',
      '[::ffff:7f00:1]',
      '①②⑦.0.0.1',
      'localhost',
    ]
    for (const host of hosts) {
      const authority = `${host}:${port}`
      const plain = `GET http://${authority}/ HTTP/1.1\r\nHost: ${authority}\r\nConnection: close\r\n\r\n`
      for (const request of [connectHead(authority), plain])
        expect((await exchangeBytes(proxy.port, request)).toString(), request).toMatch(/^HTTP\/1\.1 40[03] /)
    }
    expect({ asked, requested: inside.requested }).toEqual({ asked: [], requested: [] })
  })

  it('N05 a redirect to a private address, and a second request on the same connection, pass the same checks', async () => {
    const inside = await startWebServer({ '/': body('inside') })
    const page = await startWebServer({ '/': redirect(`http://127.0.0.1:${inside.port}/`) })
    const { resolve } = resolverOf({ 'api.test': ['127.0.0.1'] })
    const proxy = await startProxy(
      [
        { host: 'api.test', port: page.port },
        { host: '127.0.0.1', port: page.port },
      ],
      { resolve },
    )
    const request = (authority: string, more = '') =>
      `GET http://${authority}/ HTTP/1.1\r\nHost: ${authority}\r\n${more}\r\n`
    const answer = await exchangeBytes(
      proxy.port,
      request(`api.test:${page.port}`) + request(`127.0.0.1:${inside.port}`, 'Connection: close\r\n'),
    )
    const statuses = [...answer.toString().matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status)
    expect(statuses).toEqual(['302', '403'])
    expect(inside.requested).toEqual([])
  })

  it('N07 requests that do not wait for responses are at most so many at once', async () => {
    // It never answers.
    const server = await startWebServer({ '/': () => undefined })
    const { port } = server
    const { resolve } = resolverOf({})
    const proxy = await startProxy([{ host: '127.0.0.1', port }], { resolve })
    const request = `GET http://127.0.0.1:${port}/ HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`
    const socket = connect(proxy.port, '127.0.0.1')
    socket.on('error', () => undefined)
    socket.write(request.repeat(300))
    await expect.poll(() => proxy.access.events.filter(({ type }) => type === 'request.refused').length).toBe(300 - 64)
    await expect.poll(() => server.requested.length).toBe(64)
    socket.destroy()
  })

  it('N06 a ClientHello that comes byte by byte ends its connection, and opens none', async () => {
    const { resolve } = resolverOf({ 'api.test': ['1.1.1.1'] })
    const proxy = await startProxy([{ host: 'api.test' }], { resolve })
    const socket = connect(proxy.port, '127.0.0.1')
    socket.setNoDelay(true)
    socket.on('error', () => undefined)
    socket.write(connectHead('api.test:443'))
    await once(socket, 'data')
    const closed = new Promise((resolveClosed) => socket.once('close', resolveClosed))
    const bytes = Buffer.concat([Buffer.from([22, 3, 1, 60, 0, 1, 0, 59, 252]), Buffer.alloc(10_000)])
    for (const byte of bytes.subarray(0, 2_000)) {
      if (socket.destroyed) break
      socket.write(Buffer.of(byte))
      await new Promise(setImmediate)
    }
    await closed
    expect(proxy.access.events).toMatchObject([{ type: 'request.refused', rule: 'tls' }])
  })
})
