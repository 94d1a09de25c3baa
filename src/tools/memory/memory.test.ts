import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { filesIn, temporaryFolder } from '../../../test/support/folders.js'
import { create, file, insert, openMemory, replace, view } from '../../../test/support/memory/memory-tool.js'
import type { MemoryCommand } from './commands/commands.js'
import type { MemoryLimits } from './limits.js'
import { memory } from './memory.js'

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
