import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { filesIn, temporaryFolder } from '../../../test/support/folders.js'
import type { Failpoint } from '../../common/failpoint.js'
import type { JsonObject } from '../../common/json/json.js'
import { listTools } from '../sources/tool-source.js'
import type { Tool } from '../tool.js'
import type { MemoryCommand } from './commands.js'
import type { MemoryLimits } from './limits.js'
import { administrationOf, memory } from './memory.js'
import { folderOf, type MemoryScope } from './scope.js'

const signal = new AbortController().signal
let calls = 0

interface Caller {
  (command: MemoryCommand, key?: string, context?: JsonObject): Promise<string>
}

/** A function that calls the memory tool over a folder. */
async function openMemory(
  directory: string,
  { limits, scope = ({ user }) => user }: { limits?: MemoryLimits; scope?: MemoryScope } = {},
): Promise<Caller> {
  const source = memory({ store: { kind: 'local', directory }, scope, ...(limits && { limits }) })
  const { tools } = await listTools([source])
  const [tool] = tools as readonly Tool[]
  if (tool === undefined) throw new Error('the source lists no tool')
  return async (command, key = `key ${calls++}`, context = { user: 'ada' }) => {
    const run = { namespace: 'n', workflowId: 'conversation-1', runId: 'r', agent: undefined }
    // The members that the tool uses.
    const callContext = { signal: new AbortController().signal, idempotencyKey: key, context, run }
    const result: unknown = await tool.run({ ...command }, callContext as never)
    return String(result)
  }
}

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

const file = '/memories/notes.txt'
const create = (file_text: string, path = file): MemoryCommand => ({ command: 'create', path, file_text })
const view = (path = file, view_range?: readonly number[]): MemoryCommand => ({ command: 'view', path, view_range })
const replace = (old_str: string, new_str?: string, path = file): MemoryCommand => {
  return { command: 'str_replace', path, old_str, new_str }
}
const insert = (insert_line: number, insert_text: string, path = file): MemoryCommand => {
  return { command: 'insert', path, insert_line, insert_text }
}

test('each command returns what the documentation of memory_20250818 says', async () => {
  const call = await openMemory(await temporaryFolder())
  const header =
    "Here're the files and directories up to 2 levels deep in /memories, excluding hidden items and node_modules:"
  expect(await call(view('/memories'))).toBe(`${header}\n0B\t/memories`)
  expect(await call(create('Hello World\nThis is line two\n'))).toBe(`File created successfully at: ${file}`)
  expect(await call(view())).toBe(
    `Here's the content of ${file} with line numbers:\n     1\tHello World\n     2\tThis is line two`,
  )
  expect(await call(view(file, [2, -1]))).toBe(
    `Here's the content of ${file} with line numbers:\n     2\tThis is line two`,
  )
  expect(await call(replace('World', 'Ada'))).toBe(
    'The memory file has been edited. Here is the snippet showing the change (with line numbers):\n' +
      '     1\tHello Ada\n     2\tThis is line two',
  )
  expect(await call(insert(1, 'between\n'))).toBe(`The file ${file} has been edited.`)
  expect(await call(view())).toContain('     1\tHello Ada\n     2\tbetween\n     3\tThis is line two')
  await call(create('x'.repeat(5_632), '/memories/a/b/deep.txt'))
  await call(create('', '/memories/.hidden'))
  await call(create('', '/memories/node_modules/x'))
  expect(await call(view('/memories'))).toBe(
    `${header}\n5.5K\t/memories\n5.5K\t/memories/a/\n5.5K\t/memories/a/b/\n35B\t/memories/notes.txt`,
  )
  expect(await call({ command: 'rename', old_path: '/memories/a', new_path: '/memories/c' })).toBe(
    'Successfully renamed /memories/a to /memories/c',
  )
  expect(await call(view('/memories/c/'))).toContain(
    '\n5.5K\t/memories/c\n5.5K\t/memories/c/b/\n5.5K\t/memories/c/b/deep.txt',
  )
  expect(await call({ command: 'delete', path: '/memories/c' })).toBe('Successfully deleted /memories/c')
  await expect(call(view('/memories/c'))).rejects.toThrow('The path /memories/c does not exist. Please provide')
})

test.each<[string, MemoryCommand, string, string]>([
  [
    'view of nothing',
    view('/memories/x'),
    'not_found',
    'The path /memories/x does not exist. Please provide a valid path.',
  ],
  ['create over a file', create('x'), 'exists', `Error: File ${file} already exists`],
  ['create over a folder', create('x', '/memories/d'), 'exists', 'Error: /memories/d is a directory'],
  ['create below a file', create('x', `${file}/x`), 'exists', `Error: ${file} is a file, not a directory`],
  [
    'replace in nothing',
    replace('a', 'b', '/memories/x'),
    'not_found',
    'Error: The path /memories/x does not exist. Please provide a valid path.',
  ],
  [
    'replace in a folder',
    replace('a', 'b', '/memories/d'),
    'not_found',
    'Error: The path /memories/d does not exist. Please provide a valid path.',
  ],
  [
    'replace of no text',
    replace('zzz', 'b'),
    'text_not_found',
    `No replacement was performed, old_str \`zzz\` did not appear verbatim in ${file}.`,
  ],
  [
    'replace of two texts',
    replace('one', 'b'),
    'text_not_unique',
    'No replacement was performed. Multiple occurrences of old_str `one` in lines: 1, 3. Please ensure it is unique',
  ],
  ['insert into nothing', insert(0, 'a', '/memories/x'), 'not_found', 'Error: The path /memories/x does not exist'],
  [
    'insert after the end',
    insert(4, 'a'),
    'arguments_invalid',
    'Error: Invalid `insert_line` parameter: 4. It should be within the range of lines of the file: [0, 3]',
  ],
  ['view of other lines', view(file, [5, 9]), 'arguments_invalid', 'Error: Invalid `view_range` parameter: [5, 9]'],
  [
    'delete of nothing',
    { command: 'delete', path: '/memories/x' },
    'not_found',
    'Error: The path /memories/x does not exist',
  ],
  [
    'delete of everything',
    { command: 'delete', path: '/memories' },
    'path_refused',
    'Cannot delete the /memories directory itself',
  ],
  [
    'rename of nothing',
    { command: 'rename', old_path: '/memories/x', new_path: '/memories/y' },
    'not_found',
    'Error: The path /memories/x does not exist',
  ],
  [
    'rename to a file',
    { command: 'rename', old_path: '/memories/d', new_path: file },
    'exists',
    `Error: The destination ${file} already exists`,
  ],
  [
    'rename into itself',
    { command: 'rename', old_path: '/memories/d', new_path: '/memories/d/e' },
    'path_refused',
    'is inside',
  ],
  [
    'a missing argument',
    { command: 'create', path: file },
    'arguments_invalid',
    'Error: The command create needs `file_text`.',
  ],
])('%s has no effect, and says why', async (_, command, problem, message) => {
  const call = await openMemory(await temporaryFolder())
  await call(create('one\ntwo\none\n'))
  await call(create('', '/memories/d/file'))
  await expect(call(command)).rejects.toMatchObject({ problem, message: expect.stringContaining(message) })
  expect(await call(view())).toContain('     1\tone\n     2\ttwo\n     3\tone')
})

test.each([
  '/memories/../etc/passwd',
  '/memories/a/../../b',
  '/memories/./a',
  '/memories/%2e%2e/a',
  '/memories/%252E%252e%252fa',
  '/memories/%2E./a',
  '/memories/..%2fa',
  '/memories/a%00',
  '/memories\\..\\a',
  '/memories/..\\a',
  '/memories-evil/a',
  '/memoriesx',
  '/Memories/a',
  'memories/a',
  '/etc/passwd',
  'C:\\memories\\a',
  '//memories/a',
  '/memories//a',
  '/memories/a\0b',
  '/memories/a\nb',
  '/memories/\u202Etxt.exe',
  '/memories/a\u200Bb',
  '/memories/\uD800',
  '/memories/ a',
  '/memories/.. /a',
  '',
  '/',
])('the path %j is refused by each command, and nothing is written', async (path) => {
  const folder = join(await temporaryFolder(), 'memory')
  const call = await openMemory(folder)
  const commands: MemoryCommand[] = [
    view(path),
    create('x', path),
    replace('a', 'b', path),
    insert(0, 'a', path),
    { command: 'delete', path },
    { command: 'rename', old_path: path, new_path: file },
    { command: 'rename', old_path: file, new_path: path },
  ]
  for (const command of commands) await expect(call(command)).rejects.toMatchObject({ problem: 'path_refused' })
  await expect(readdir(folder)).rejects.toThrow('ENOENT')
})

test('two normal forms of one name are one file', async () => {
  const call = await openMemory(await temporaryFolder())
  await call(create('x', '/memories/caf\u00E9.txt'))
  await expect(call(create('y', '/memories/cafe\u0301.txt'))).rejects.toMatchObject({ problem: 'exists' })
  expect(await call(view('/memories/cafe\u0301.txt'))).toContain('     1\tx')
})

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
  ['a member that is missing', ({ user }) => `user:${String(user)}`],
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

test.each<[string, MemoryLimits, MemoryCommand, string, string]>([
  [
    'the bytes of a file',
    { fileBytes: 10 },
    create('é'.repeat(6), '/memories/b'),
    'file_too_large',
    'at most 10 bytes, and this one would have 12',
  ],
  [
    'the bytes of a file by an edit',
    { fileBytes: 10 },
    replace('x', 'x'.repeat(11), '/memories/a'),
    'file_too_large',
    'at most 10 bytes',
  ],
  [
    'the bytes of a file by an insertion',
    { fileBytes: 10 },
    insert(0, 'x'.repeat(11), '/memories/a'),
    'file_too_large',
    'at most 10 bytes',
  ],
  ['the files', { files: 1 }, create('', '/memories/b'), 'too_many_files', 'at most 1 files'],
  [
    'all bytes',
    { totalBytes: 12 },
    create('x'.repeat(12), '/memories/b'),
    'memory_full',
    'at most 12 bytes, and would have 13',
  ],
  ['the bytes of a path', { pathBytes: 20 }, create('', '/memories/ééééééé'), 'path_refused', 'longer than 20 bytes'],
  [
    'the bytes of a path by a rename',
    { pathBytes: 20 },
    { command: 'rename', old_path: '/memories/a', new_path: '/memories/bbbbbbbbbbb' },
    'path_refused',
    'longer than 20 bytes',
  ],
])('a write over the limit of %s is refused', async (_, limits, command, problem, message) => {
  const call = await openMemory(await temporaryFolder(), { limits })
  await call(create('x', '/memories/a'))
  await expect(call(command)).rejects.toMatchObject({ problem, message: expect.stringContaining(message) })
  expect(await call(view('/memories/a'))).toContain('     1\tx')
})

test('a file over a limit that was lowered can be shortened and deleted', async () => {
  const folder = await temporaryFolder()
  await (
    await openMemory(folder)
  )(create('x'.repeat(50)))
  const call = await openMemory(folder, { limits: { fileBytes: 10, totalBytes: 10 } })
  await call(replace('x'.repeat(50), 'y'.repeat(40)))
  await expect(call(replace('y'.repeat(40), 'y'.repeat(41)))).rejects.toMatchObject({ problem: 'file_too_large' })
  expect(await call({ command: 'delete', path: file })).toContain('Successfully deleted')
})

test.each([{ files: 0 }, { files: 1_001 }, { fileBytes: 1.5 }, { pathBytes: 5_000 }, { unknown: 1 }])(
  'the limits %j are refused when the configuration is loaded',
  (limits) => {
    const store = { kind: 'local', directory: '/tmp/unused' } as const
    expect(() => memory({ store, scope: () => 'x', limits })).toThrow('invalid limits of memory')
  },
)

test('writers in parallel lose no fact, and each file has all of its lines', async () => {
  const folder = await temporaryFolder()
  const writers = await Promise.all(Array.from({ length: 4 }, () => openMemory(folder)))
  await writers[0]?.(create('begin\n'))
  const facts = Array.from({ length: 24 }, (_, index) => `fact ${index}`)
  await Promise.all(facts.map((fact, index) => writers[index % 4]?.(insert(1, `${fact}\n`))))
  await Promise.all(facts.map((fact, index) => writers[index % 4]?.(create(fact, `/memories/facts/${index}`))))
  const text = (await writers[0]?.(view())) ?? ''
  const lines = text
    .split('\n')
    .slice(1)
    .map((line) => line.slice(7))
  expect(lines.toSorted()).toEqual(['begin', ...facts].toSorted())
  expect((await writers[0]?.(view('/memories/facts')))?.split('\n')).toHaveLength(26)
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

test.each([
  ['line ends', 'one\r\ntwo\r\nthree\r\n', replace('one\ntwo', '1\n2'), '1\r\n2\r\nthree\r\n'],
  ['line ends of an insertion', 'one\r\ntwo\r\n', insert(1, 'a\nb\n'), 'one\r\na\r\nb\r\ntwo\r\n'],
  ['CRLF that the model sends', 'one\r\ntwo\r\n', replace('one\r\ntwo', '1\r\n2'), '1\r\n2\r\n'],
  ['the byte order mark', '\uFEFFone\r\ntwo', insert(0, 'zero'), '\uFEFFzero\r\none\r\ntwo'],
  ['the byte order mark by a replacement', '\uFEFFone', replace('one', 'two'), '\uFEFFtwo'],
  ['mixed line ends', 'a\r\nb\nc\td \r\n', replace('b', '$&'), 'a\r\n$&\nc\td \r\n'],
  ['the open end', 'one', insert(1, 'two\n'), 'one\ntwo'],
  ['an empty file', '', insert(0, 'one'), 'one\n'],
  ['other Unicode', 'e\u0301 \u00E9 \u{1F600}\0x', replace('\u00E9', '!'), 'e\u0301 ! \u{1F600}\0x'],
])('an edit keeps %s', async (_, before, command, after) => {
  const folder = await temporaryFolder()
  const call = await openMemory(folder)
  await call(create(before))
  await call(command)
  const [blob = ''] = (await filesIn(folder)).filter((path) => path.includes('/blobs/'))
  expect(await readFile(blob, 'utf8')).toBe(after)
})

test('view shows lines without carriage returns and byte order mark', async () => {
  const call = await openMemory(await temporaryFolder())
  await call(create('\uFEFFone\r\ntwo\r\n'))
  expect(await call(view())).toBe(`Here's the content of ${file} with line numbers:\n     1\tone\n     2\ttwo`)
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
