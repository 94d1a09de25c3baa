import { mkdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { filesIn, temporaryFolder } from '../../../test/support/folders.js'
import { create, file, insert, openMemory, replace, view } from '../../../test/support/memory/memory-tool.js'
import type { Failpoint } from '../../common/failpoint.js'
import type { JsonObject } from '../../common/json/json.js'
import type { MemoryCommand } from './commands/commands.js'
import { administrationOf, memory } from './memory.js'
import { folderOf, type MemoryScope } from './scope.js'

const signal = new AbortController().signal
const failpointKey = Symbol.for('durable-ptc.failpoint')
afterEach(() => {
  Reflect.deleteProperty(globalThis, failpointKey)
})

/** The next writer dies at a failpoint. */
function dieOnceAt(failpoint: Failpoint): void {
  Reflect.set(globalThis, failpointKey, (name: Failpoint) => {
    if (name !== failpoint) return
    Reflect.deleteProperty(globalThis, failpointKey)
    throw new Error('the worker died')
  })
}

test('no name on the disk is one of the model', async () => {
  const folder = await temporaryFolder()
  const call = await openMemory(folder)
  await call(create('x', '/memories/secret-name/other-name.txt'))
  const paths = await filesIn(folder)
  expect(paths).toHaveLength(2)
  for (const path of paths) {
    expect(path.slice(folder.length)).toMatch(/^\/[0-9a-f]{64}\/(index\/\d{12}|blobs\/\d{12}-[0-9a-f-]{36})$/)
    expect((await stat(path)).mode & 0o777).toBe(0o600)
  }
})

test('a link in the place of a folder of the store is refused, for reads and writes', async () => {
  const outside = await temporaryFolder()
  const folder = await temporaryFolder()
  const call = await openMemory(folder)
  await mkdir(join(outside, 'index'))
  await symlink(outside, join(folder, folderOf('ada')))
  await expect(call(create('x'))).rejects.toMatchObject({ code: 'VALUE_STORE_REFUSED' })
  await expect(call(view('/memories'))).rejects.toMatchObject({ code: 'VALUE_STORE_REFUSED' })
  expect(await filesIn(outside)).toEqual([])
})

test('links in the places of files, and of the folder for unfinished files, are refused', async () => {
  const outside = await temporaryFolder()
  const folder = await temporaryFolder()
  await writeFile(join(outside, 'secret'), 'a secret')
  await symlink(outside, join(folder, 'incoming'))
  const call = await openMemory(folder)
  await expect(call(create('x'))).rejects.toMatchObject({ code: 'VALUE_STORE_REFUSED' })
  expect(await filesIn(outside)).toHaveLength(1)
  await rm(join(folder, 'incoming'))
  await call(create('x'))
  const [blob = ''] = (await filesIn(folder)).filter((path) => path.includes('/blobs/'))
  await rm(blob)
  await symlink(join(outside, 'secret'), blob)
  await expect(call(view())).rejects.toMatchObject({ code: 'VALUE_STORE_REFUSED' })
  expect(await readFile(join(outside, 'secret'), 'utf8')).toBe('a secret')
})

test('one scope reads nothing of another', async () => {
  const folder = await temporaryFolder()
  const call = await openMemory(folder, { scope: ({ tenant, user }) => [tenant, user] })
  const texts: readonly JsonObject[] = [
    { tenant: 'a/b', user: 'c' },
    { tenant: 'a', user: 'b/c' },
    { tenant: 'a%2Fb', user: 'c' },
    { tenant: 'a', user: 'b' },
  ]
  for (const [index, context] of texts.entries()) await call(create(`text ${index}`), undefined, context)
  for (const [index, context] of texts.entries()) {
    expect(await call(view(), undefined, context)).toContain(`     1\ttext ${index}`)
  }
  await using administration = administrationOf(
    memory({ store: { kind: 'local', directory: folder }, scope: () => '' }),
  )
  const listed: string[] = []
  for await (const { scope } of administration?.list(signal) ?? []) listed.push(scope)
  expect(listed.toSorted()).toEqual(['a%252Fb/c', 'a%2Fb/c', 'a/b', 'a/b%2Fc'])
})

test.each<[string, MemoryScope]>([
  ['nothing', () => undefined],
  ['an empty text', () => ' '],
  ['a number', () => 1],
  ['a member that is missing', ({ user }) => `user:${user as string}`],
  ['a list with a missing part', ({ tenant, user }) => [tenant, user]],
  ['an empty list', () => []],
  ['a promise', () => Promise.resolve('x')],
  ['a long text', () => 'x'.repeat(257)],
  ['a lone surrogate', () => '\uD800'],
  ['a direction mark', () => 'a\u202Eb'],
])('a scope that is %s refuses the call', async (_, scope) => {
  const call = await openMemory(await temporaryFolder(), { scope })
  await expect(call(view('/memories'), undefined, {})).rejects.toMatchObject({ problem: 'scope_invalid' })
})

test('a run without a context has no memory, and one of a conversation may have its own', async () => {
  const folder = await temporaryFolder()
  const call = await openMemory(folder)
  await expect(call(create('x'), undefined, {})).rejects.toThrow('the context of the run names nobody')
  const ofConversation = await openMemory(folder, { scope: (_, run) => run.workflowId })
  expect(await ofConversation(create('x'), undefined, {})).toBe(`File created successfully at: ${file}`)
})

test('writers in parallel lose no fact, and each file has all of its lines', async () => {
  const folder = await temporaryFolder()
  const first = await openMemory(folder)
  const writers = await Promise.all(Array.from({ length: 3 }, () => openMemory(folder)))
  const writerOf = (index: number) => writers[index % 3] ?? first
  await first(create('begin\n'))
  const facts = Array.from({ length: 24 }, (_, index) => `fact ${index}`)
  await Promise.all(facts.map((fact, index) => writerOf(index)(insert(1, `${fact}\n`))))
  await Promise.all(facts.map((fact, index) => writerOf(index)(create(fact, `/memories/facts/${index}`))))
  const text = await first(view())
  const lines = text
    .split('\n')
    .slice(1)
    .map((line) => line.slice(7))
  expect(lines.toSorted()).toEqual(['begin', ...facts].toSorted())
  expect((await first(view('/memories/facts'))).split('\n')).toHaveLength(26)
  // Nothing is left of writers that had to try again, but the last versions of the index.
  const blobs = (await filesIn(folder)).filter((path) => path.includes('/blobs/'))
  expect(blobs).toHaveLength(25)
  expect((await filesIn(folder)).length - blobs.length).toBeLessThan(20)
})

test('a worker that dies before the index has written nothing, and its retry writes once', async () => {
  const folder = await temporaryFolder()
  const call = await openMemory(folder)
  dieOnceAt('memory.stored')
  await expect(call(create('x'), 'key')).rejects.toThrow('the worker died')
  await expect(call(view())).rejects.toMatchObject({ problem: 'not_found' })
  expect(await call(create('x'), 'key')).toBe(`File created successfully at: ${file}`)
  for (let write = 0; write < 16; write++) await call(insert(0, `line ${write}\n`))
  // A later write has removed what the dead one left.
  expect((await filesIn(folder)).filter((path) => path.includes('/blobs/'))).toHaveLength(1)
})

test.each<[string, MemoryCommand]>([
  ['create', create('x', '/memories/new')],
  ['str_replace', replace('begin', 'end')],
  ['insert', insert(0, 'line\n')],
  ['delete', { command: 'delete', path: file }],
  ['rename', { command: 'rename', old_path: file, new_path: '/memories/other' }],
])('an attempt of %s after a worker died with the index written returns the first result', async (_, command) => {
  const folder = await temporaryFolder()
  const call = await openMemory(folder)
  await call(create('begin\n'))
  dieOnceAt('memory.written')
  await expect(call(command, 'key')).rejects.toThrow('the worker died')
  const state = () => Promise.allSettled([call(view()), call(view('/memories')), call(view('/memories/other'))])
  const before = await state()
  const repeated = await call(command, 'key')
  expect(repeated).toMatch(/success|has been edited/i)
  expect(await call(command, 'key')).toBe(repeated)
  expect(await state()).toEqual(before)
})

test('a changed or missing content is an error of the store, and not another text', async () => {
  const folder = await temporaryFolder()
  const call = await openMemory(folder)
  await call(create('one'))
  const [blob = ''] = (await filesIn(folder)).filter((path) => path.includes('/blobs/'))
  await writeFile(blob, 'two')
  await expect(call(view())).rejects.toMatchObject({ code: 'VALUE_CORRUPT' })
  await rm(blob)
  await expect(call(view())).rejects.toMatchObject({ code: 'VALUE_MISSING' })
})

test('an erased scope leaves no text, and writers begin anew', async () => {
  const folder = await temporaryFolder()
  const call = await openMemory(folder)
  await call(create('the secret text'))
  dieOnceAt('memory.stored')
  await expect(call(create('the secret text', '/memories/b'))).rejects.toThrow('the worker died')
  await using administration = administrationOf(
    memory({ store: { kind: 'local', directory: folder }, scope: () => '' }),
  )
  expect(await administration?.erase('ada', true, signal)).toEqual({ files: 1, bytes: 15 })
  expect(await call(view())).toContain('secret')
  expect(await administration?.erase('ada', false, signal)).toEqual({ files: 1, bytes: 15 })
  const paths = await filesIn(folder)
  expect(paths).toHaveLength(1)
  expect(await readFile(paths[0] ?? '', 'utf8')).not.toMatch(/secret|ada|notes/)
  expect(await administration?.erase('ada', false, signal)).toEqual({ files: 0, bytes: 0 })
  await call(create('new'))
  expect(await administration?.export('ada', signal)).toEqual([{ path: file, bytes: 3, text: 'new' }])
})

test('writers during an erasure lose none of what they write after it', async () => {
  const folder = await temporaryFolder()
  const call = await openMemory(folder)
  await call(create('old'))
  await using administration = administrationOf(
    memory({ store: { kind: 'local', directory: folder }, scope: () => '' }),
  )
  const written = Array.from({ length: 8 }, (_, index) => call(create(`${index}`, `/memories/${index}`)))
  await Promise.all([administration?.erase('ada', false, signal), ...written])
  await call(create('end', '/memories/end'))
  // Each file that the index has can be read.
  const files = (await administration?.export('ada', signal)) ?? []
  expect(files.map(({ path }) => path)).toContain('/memories/end')
  expect(files.map(({ path }) => path)).not.toContain(file)
})
