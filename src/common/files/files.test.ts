import { describe, expect, it } from 'vitest'
import { externalValue } from '../json/external-value.js'
import {
  findFile,
  inputFolder,
  isToolFile,
  partBytes,
  problemOfFileName,
  problemOfPath,
  problemOfUploads,
  type StoredFile,
  toolFilePath,
} from './files.js'

const part = externalValue({ sha256: 'a'.repeat(64), bytes: 4, preview: '' })
const file = (more: Partial<StoredFile> = {}): StoredFile => ({
  path: '/tmp/in/a.csv',
  bytes: 3,
  sha256: 'b'.repeat(64),
  mediaType: 'text/csv',
  parts: [part],
  ...more,
})

describe('problemOfPath', () => {
  it.each(['/tmp/in/a', '/tmp/in/a b/ü.txt', '/tmp/in/...', '/tmp/in/.env', `/tmp/in/${'x'.repeat(900)}`])(
    'problemOfPath accepts %j',
    (path) => expect(problemOfPath(path, inputFolder)).toBeUndefined(),
  )

  it.each([
    ['/tmp/in', 'it is not in /tmp/in'],
    ['/tmp/input/a', 'it is not in /tmp/in'],
    ['a', 'it is not in /tmp/in'],
    ['/tmp/in/', 'it has an empty name, or a dot as one'],
    ['/tmp/in//a', 'it has an empty name, or a dot as one'],
    ['/tmp/in/../out/a', 'it has an empty name, or a dot as one'],
    ['/tmp/in/./a', 'it has an empty name, or a dot as one'],
    ['/tmp/in/a\nb', 'it has a control character'],
    ['/tmp/in/a\0', 'it has a control character'],
    ['/tmp/in/a\u2028b', 'it has a control character'],
    ['/tmp/in/\ud800', 'it has half of a character'],
    [`/tmp/in/${'x'.repeat(1_000)}`, 'it has more than 1000 characters'],
  ])('problemOfPath refuses %j', (path, problem) => expect(problemOfPath(path, inputFolder)).toBe(problem))
})

describe('problemOfUploads', () => {
  it('problemOfUploads accepts stored files that fit', () => {
    const large = file({ path: '/tmp/in/b', bytes: partBytes + 1, parts: [part, part] })
    expect(problemOfUploads([file(), large, file({ path: '/tmp/in/c', bytes: 0 })], 10 * partBytes)).toBeUndefined()
  })

  it.each<[string, unknown, string]>([
    ['a text', 'x', 'the files are not a list'],
    ['a number', [1], 'file 1: it is not an object'],
    ['a file without a path', [{}], 'file 1: it has no path'],
    ['a path outside', [file({ path: '/etc/passwd' })], 'file 1: the path "/etc/passwd": it is not in /tmp/in'],
    ['a path twice', [file(), file()], 'file 2: /tmp/in/a.csv is there twice'],
    ['a negative size', [file({ bytes: -1 })], 'file 1: it has more than 1073741824 bytes'],
    ['another hash', [file({ sha256: 'x' })], 'file 1: it has no SHA-256'],
    ['no media type', [{ ...file(), mediaType: 1 }], 'file 1: it has no media type'],
    [
      'too few parts',
      [file({ bytes: partBytes + 1 })],
      'file 1: its bytes are not in the value store: a client stores them',
    ],
    [
      'a text as a part',
      [{ ...file(), parts: ['YWJj'] }],
      'file 1: its bytes are not in the value store: a client stores them',
    ],
    ['too many bytes', [file({ bytes: 101 })], 'the files have 101 bytes, and the sandbox has room for 100'],
    ['too many files', Array.from({ length: 501 }, () => 0), 'a run may have 500 files, not 501'],
  ])('problemOfUploads refuses %s', (_what, uploads, problem) => expect(problemOfUploads(uploads, 100)).toBe(problem))
})

describe('findFile', () => {
  const tools = ['0', '1'].map((digit) => `/tmp/in/tools/${digit.repeat(16)}`)
  const ofTools = [`${tools[0]}/a`, `${tools[0]}/once`, `${tools[0]}/twice`, `${tools[1]}/twice`]
  const others = ['/tmp/in/a', '/tmp/in/b', '/tmp/out/a', '/tmp/out/sub/c', '/tmp/in/more/once']
  const files = [...ofTools, ...others].map((path) => file({ path }))

  it.each([
    ['/tmp/in/a', '/tmp/in/a'],
    ['a', '/tmp/out/a'],
    ['b', '/tmp/in/b'],
    ['sub/c', '/tmp/out/sub/c'],
    ['c', undefined],
    ['once', `${tools[0]}/once`],
    ['twice', undefined],
    ['/a', undefined],
    ['../in/a', undefined],
  ])('finds %s as %s', (path, found) => {
    expect(findFile(files, path)?.path).toBe(found)
  })
})

describe('the file that a call returns', () => {
  const key = '0123456789abcdef0123456789abcdef'

  it('its path has the folder of the call', () => {
    const path = toolFilePath(key, 'a b.csv')
    expect(path).toBe('/tmp/in/tools/0123456789abcdef/a b.csv')
    expect(isToolFile({ path })).toBe(true)
    expect(isToolFile({ path: '/tmp/in/tools/a.csv' })).toBe(false)
  })

  it.each(['a', 'täble.csv', '…', '.hidden', 'x'.repeat(200)])('it may have the name %j', (name) => {
    expect(problemOfFileName(name)).toBeUndefined()
  })

  it.each(['', '.', '..', 'a/b', '/etc/passwd', 'a\0', 'a\n', '\u009b1m', '\u2028', '\ud800', 'ä'.repeat(101)])(
    'it may not have the name %j',
    (name) => {
      expect(problemOfFileName(name)).toBeTypeOf('string')
    },
  )
})
