import { createClient } from '@redis/client'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { redisStream, type StreamSink } from '../../../src/stream/index.js'
import { describeStreamSink, readEntries } from '../../support/stream/conformance.js'
import { describeRedis, RedisServer } from '../../support/stream/redis-server.js'
import { unusedAddress } from '../../support/unused-address.js'

describeRedis('a stream in Redis', () => {
  let server: RedisServer
  beforeAll(async () => {
    server = await RedisServer.start()
  })
  afterAll(() => server.close())

  describeStreamSink({ create: (options) => redisStream({ url: server.url, ...options }) })

  function open(options: { readonly maxEntries?: number } = {}): StreamSink {
    const sink = redisStream({ url: server.url, ...options })
    onTestFinished(() => sink.close())
    return sink
  }

  it('a stream in Redis keeps about the configured number of entries', async () => {
    const sink = open({ maxEntries: 100 })
    for (let batch = 0; batch < 20; batch += 1) {
      await sink.append(
        'long',
        Array.from({ length: 100 }, (_, entry) => `${batch}/${entry}`),
      )
    }
    const reader = sink.reader('long')
    onTestFinished(() => reader.close())
    const entries = await reader.read(undefined, 0)
    // Redis trims whole nodes of at most 100 entries each.
    expect(entries.length).toBeLessThanOrEqual(200)
    expect(entries.at(-1)?.text).toBe('19/99')
  })

  it('a stream in Redis rejects while the server is down, and connects again by itself', async () => {
    const sink = open()
    await sink.append('down', ['before'])
    const reader = sink.reader('down')
    onTestFinished(() => reader.close())
    const [before] = await readEntries(reader, 1)
    await server.kill()
    await expect(sink.append('down', ['lost'])).rejects.toThrow()
    await expect(reader.read(before?.id, 10)).rejects.toThrow()
    await server.startProcess()
    await sink.append('down', ['after'])
    expect(await readEntries(reader, 1, before?.id)).toMatchObject([{ text: 'after' }])
  })

  it('a stream in Redis rejects requests that Redis refuses', async () => {
    const client = await createClient({ url: server.url }).connect()
    onTestFinished(() => client.close())
    await client.set('own:refused', 'of another type')
    const sink = redisStream({ url: server.url, prefix: 'own:' })
    onTestFinished(() => sink.close())
    await expect(sink.append('refused', ['a', 'b'])).rejects.toThrow()
    await client.del('own:refused')
    await sink.append('refused', ['c'])
    const reader = sink.reader('refused')
    onTestFinished(() => reader.close())
    expect(await readEntries(reader, 1)).toMatchObject([{ text: 'c' }])
  })
})

it('a stream in Redis rejects an address that is not Redis, and one without a listener', async () => {
  expect(() => redisStream({ url: 'http://localhost' })).toThrow('redis://')
  expect(() => redisStream({ url: 'redis://localhost', maxEntries: 0 })).toThrow('maxEntries')
  const sink = redisStream({ url: `redis://${unusedAddress}` })
  await expect(sink.append('x', ['y'])).rejects.toThrow()
})
