import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runCommand, type MemoryCommand } from '../../../src/tools/memory/commands/commands.js'
import { parseLimits } from '../../../src/tools/memory/limits.js'
import { administrationOf, memory } from '../../../src/tools/memory/memory.js'
import { ScopedMemory } from '../../../src/tools/memory/scoped-memory.js'
import { S3Objects } from '../../../src/values/objects/s3-objects.js'
import { s3Available, S3Server } from '../../support/s3/s3-server.js'

const { signal } = new AbortController()
let calls = 0

describe.skipIf((await s3Available) === undefined)('a memory in a bucket', () => {
  let server: S3Server
  beforeAll(async () => {
    server = await S3Server.start()
  })
  afterAll(() => server.close())

  function run(store: S3Objects, command: MemoryCommand, idempotencyKey = `key ${calls++}`): Promise<string> {
    const scoped = new ScopedMemory(store, 'ada')
    const own = new AbortController()
    return runCommand(command, { memory: scoped, limits: parseLimits({}), idempotencyKey, signal: own.signal })
  }

  it('keeps the facts of writers in parallel, each once, and lists, exports and erases them', async () => {
    const settings = server.settings('memory 1/')
    const stores = Array.from({ length: 3 }, () => new S3Objects(settings))
    const [first = new S3Objects(settings)] = stores
    const path = '/memories/facts.txt'
    await run(first, { command: 'create', path, file_text: 'begin\n' })
    const facts = Array.from({ length: 9 }, (_, index) => `fact ${index}`)
    await Promise.all(
      facts.map((insert_text, index) => {
        return run(stores[index % 3] ?? first, { command: 'insert', path, insert_line: 1, insert_text }, insert_text)
      }),
    )
    const repeated = { command: 'insert', path, insert_line: 1, insert_text: 'fact 0' } as const
    expect(await run(first, repeated, 'fact 0')).toBe(`The file ${path} has been edited.`)
    const lines = (await run(first, { command: 'view', path })).split('\n').slice(1)
    expect(lines.map((line) => line.slice(7)).toSorted()).toEqual(['begin', ...facts])

    const store = { ...settings, region: 'us-east-1', endpoint: server.endpoint }
    const source = memory({ store, scope: () => 'ada' })
    await using administration = administrationOf(source)
    const listed: unknown[] = []
    for await (const scope of administration?.list(signal) ?? []) listed.push(scope)
    expect(listed).toMatchObject([{ scope: 'ada', files: 1, bytes: 69 }])
    expect(await administration?.export('ada', signal)).toMatchObject([{ path, bytes: 69 }])
    expect(await administration?.erase('ada', false, signal)).toEqual({ files: 1, bytes: 69 })
    expect(await administration?.export('ada', signal)).toEqual([])
    const left: string[] = []
    for await (const folder of first.folders(signal)) {
      left.push(...(await first.list(`${folder}/index`, signal)), ...(await first.list(`${folder}/blobs`, signal)))
    }
    expect(left).toHaveLength(1)
    await Promise.all(stores.map((store) => store.close()))
  })

  it('creates an object for one writer only, and refuses to read more than it was told', async () => {
    const store = new S3Objects(server.settings('memory 2/'))
    const created = await Promise.all(
      Array.from({ length: 5 }, (_, index) =>
        store.create('a/index/1', Buffer.from(`writer ${index}`), new AbortController().signal),
      ),
    )
    expect(created.filter(Boolean)).toHaveLength(1)
    expect(Buffer.from((await store.read('a/index/1', 100, signal)) ?? []).toString()).toBe(
      `writer ${created.indexOf(true)}`,
    )
    await expect(store.read('a/index/1', 3, signal)).rejects.toMatchObject({ code: 'VALUE_CORRUPT' })
    expect(await store.read('a/index/2', 3, signal)).toBeUndefined()
    await store.remove(['a/index/1', 'a/index/2'], signal)
    expect(await store.list('a/index', signal)).toEqual([])
    await store.close()
  })

  it('a write that fails while the server is away happens once when its call is tried again', async () => {
    const store = new S3Objects(server.settings('memory 4/'))
    const path = '/memories/a'
    await run(store, { command: 'create', path, file_text: 'a\n' })
    await server.kill()
    const insert = { command: 'insert', path, insert_line: 1, insert_text: 'b' } as const
    await expect(run(store, insert, 'key')).rejects.toMatchObject({ code: 'VALUE_STORE_UNAVAILABLE' })
    await server.startProcess()
    await run(store, insert, 'key')
    await run(store, insert, 'key')
    expect((await run(store, { command: 'view', path })).split('\n').slice(1)).toEqual(['     1\ta', '     2\tb'])
    await store.close()
  })

  it('fails with the code of the store when there is no server or no bucket', async () => {
    const store = new S3Objects({ ...server.settings('memory 3/'), endpoint: 'http://127.0.0.1:1' })
    const path = '/memories/a'
    await expect(run(store, { command: 'create', path, file_text: '' })).rejects.toMatchObject({
      code: 'VALUE_STORE_UNAVAILABLE',
    })
    const refused = new S3Objects({ ...server.settings(), bucket: 'nothing-here' })
    await expect(run(refused, { command: 'view', path })).rejects.toMatchObject({ code: 'VALUE_STORE_REFUSED' })
    await Promise.all([store.close(), refused.close()])
  })
})
