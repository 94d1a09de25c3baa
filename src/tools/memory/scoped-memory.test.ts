import { expect, test } from 'vitest'
import { filesIn, temporaryFolder } from '../../../test/support/folders.js'
import { deferred } from '../../common/async/deferred.js'
import { type MemoryCommand, runCommand } from './commands/commands.js'
import { parseLimits } from './limits.js'
import { ScopedMemory } from './scoped-memory.js'
import { LocalObjects } from '../../values/objects/local-objects.js'
import type { ObjectStore } from '../../values/objects/object-store.js'

const signal = new AbortController().signal
const path = '/memories/notes.txt'
let calls = 0

function run(store: ObjectStore, command: MemoryCommand, idempotencyKey = `key ${calls++}`): Promise<string> {
  const memory = new ScopedMemory(store, 'ada')
  return runCommand(command, { memory, limits: parseLimits({}), idempotencyKey, signal })
}

const isIndex = (name: string) => name.includes('/index/')

/** A store that behaves otherwise at its next creation of an index. */
class OddStore extends LocalObjects {
  onIndex: ((create: () => Promise<boolean>) => Promise<boolean>) | undefined

  override async create(name: string, content: Uint8Array, signal: AbortSignal): Promise<boolean> {
    const { onIndex } = this
    const create = () => super.create(name, content, signal)
    if (onIndex === undefined || !isIndex(name)) return create()
    this.onIndex = undefined
    return onIndex(create)
  }
}

const create = (file_text: string): MemoryCommand => ({ command: 'create', path, file_text })
const view: MemoryCommand = { command: 'view', path }

test.each<[string, MemoryCommand, MemoryCommand]>([
  ['has replaced the text', replace('red', 'green'), replace('red', 'blue')],
  [
    'has made the text ambiguous',
    replace('red', 'green'),
    { command: 'insert', path, insert_line: 0, insert_text: 'red' },
  ],
  ['has deleted the file', replace('red', 'green'), { command: 'delete', path }],
])('a replacement fails with a conflict when another writer %s meanwhile', async (_, mine, other) => {
  const folder = await temporaryFolder()
  const store = new OddStore(folder)
  await run(store, create('color: red'))
  store.onIndex = async (createIndex) => {
    await run(new LocalObjects(folder), other)
    return createIndex()
  }
  await expect(run(store, mine)).rejects.toMatchObject({
    problem: 'conflict',
    message: expect.stringContaining('Another writer has just changed this memory: view it again.'),
  })
})

test('an insertion is applied to what another writer has written meanwhile', async () => {
  const folder = await temporaryFolder()
  const store = new OddStore(folder)
  await run(store, create('a\n'))
  store.onIndex = async (createIndex) => {
    await run(new LocalObjects(folder), { command: 'insert', path, insert_line: 1, insert_text: 'theirs' })
    return createIndex()
  }
  await run(store, { command: 'insert', path, insert_line: 1, insert_text: 'mine' })
  expect(await run(store, view)).toContain('     1\ta\n     2\tmine\n     3\ttheirs')
})

test('a writer that was suspended until its version was removed loses no fact, and none of others', async () => {
  const folder = await temporaryFolder()
  const store = new OddStore(folder)
  await run(store, create('begin\n'))
  store.onIndex = async (createIndex) => {
    for (let write = 0; write < 20; write++) {
      await run(new LocalObjects(folder), { command: 'insert', path, insert_line: 1, insert_text: `fact ${write}` })
    }
    const created = await createIndex()
    // Otherwise this test would show nothing.
    expect(created).toBe(true)
    return created
  }
  await run(store, { command: 'create', path: '/memories/late', file_text: 'late' })
  const lines = (await run(store, view)).split('\n').slice(1)
  expect(lines).toHaveLength(21)
  expect(await run(store, { command: 'view', path: '/memories/late' })).toContain('     1\tlate')
})

test('a write whose success the store reports as a conflict happens once', async () => {
  const folder = await temporaryFolder()
  const store = new OddStore(folder)
  await run(store, create('a\n'))
  store.onIndex = async (createIndex) => {
    await createIndex()
    return false
  }
  expect(await run(store, { command: 'insert', path, insert_line: 1, insert_text: 'b' })).toContain('has been edited')
  expect((await run(store, view)).split('\n').slice(1)).toHaveLength(2)
})

test('a conflict without another writer is tried again', async () => {
  const store = new OddStore(await temporaryFolder())
  store.onIndex = () => Promise.resolve(false)
  expect(await run(store, create('a'))).toContain('created successfully')
  expect(await run(store, view)).toContain('     1\ta')
})

test('a reader of a version that is replaced meanwhile reads the new one', async () => {
  const folder = await temporaryFolder()
  class SlowReader extends LocalObjects {
    hasWaited = false
    override async read(name: string, maxBytes: number, signal: AbortSignal): Promise<Uint8Array | undefined> {
      if (!isIndex(name) && !this.hasWaited) {
        this.hasWaited = true
        for (const text of ['b', 'c', 'd', 'e', 'f']) {
          const old_str = String.fromCharCode(text.charCodeAt(0) - 1)
          await run(new LocalObjects(folder), replace(old_str, text))
        }
      }
      return super.read(name, maxBytes, signal)
    }
  }
  await run(new LocalObjects(folder), create('a'))
  expect(await run(new SlowReader(folder), view)).toContain('     1\tf')
})

test('an erasure removes no content of a writer that begins after it', async () => {
  const folder = await temporaryFolder()
  await run(new LocalObjects(folder), create('old'))
  const erased = deferred<void>()
  const writer = new OddStore(folder)
  let written: Promise<string> | undefined
  class ErasingStore extends LocalObjects {
    lists = 0
    override async list(name: string, signal: AbortSignal): Promise<readonly string[]> {
      if (name.endsWith('/blobs') && (this.lists += 1) === 2) {
        // The index is erased, and its contents are not yet removed.
        const hasStored = deferred<void>()
        writer.onIndex = async (createIndex) => {
          hasStored.resolve()
          await erased.promise
          return createIndex()
        }
        written = run(writer, create('new'))
        await hasStored.promise
      }
      return super.list(name, signal)
    }
  }
  await new ScopedMemory(new ErasingStore(folder), 'ada').erase(signal)
  erased.resolve()
  expect(await written).toContain('created successfully')
  expect(await run(writer, view)).toContain('     1\tnew')
})

test('a failure of the removal of old objects is not one of the write', async () => {
  class ReadOnlyRemoval extends LocalObjects {
    override remove(): Promise<void> {
      return Promise.reject(new Error('not allowed'))
    }
  }
  const folder = await temporaryFolder()
  const store = new ReadOnlyRemoval(folder)
  await run(store, create('a'))
  for (let write = 0; write < 20; write++)
    await run(store, { command: 'insert', path, insert_line: 0, insert_text: 'x' })
  expect((await filesIn(folder)).length).toBeGreaterThan(40)
  const memory = new ScopedMemory(store, 'ada')
  await expect(memory.erase(signal)).rejects.toThrow('not allowed')
  // The next write that may remove does so.
  for (let write = 0; write < 16; write++) {
    await run(new LocalObjects(folder), { command: 'create', path: `/memories/${write}`, file_text: '' })
  }
  expect((await filesIn(folder)).length).toBeLessThan(40)
})

test('the index keeps the latest calls only, and stays small', async () => {
  const folder = await temporaryFolder()
  const store = new LocalObjects(folder)
  await run(store, create('a'), 'first')
  const insert: MemoryCommand = { command: 'insert', path, insert_line: 0, insert_text: 'x' }
  for (let write = 0; write < 255; write++) await run(store, insert)
  expect(await run(store, create('a'), 'first')).toContain('created successfully')
  await run(store, insert)
  await expect(run(store, create('a'), 'first')).rejects.toMatchObject({ problem: 'exists' })
})

function replace(old_str: string, new_str: string): MemoryCommand {
  return { command: 'str_replace', path, old_str, new_str }
}
