import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmod, mkdir, readFile, stat, symlink, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { failure, useHome } from '../../support/environment-tools/run-tools.js'

const home = useHome()
const bytesOf = (name: string) => readFile(join(home.path, name))
const digestOf = (content: Uint8Array) => createHash('sha256').update(content).digest('hex')

describe('read_file', () => {
  it('shows lines with their numbers, without line ends and byte order mark', async () => {
    await home.put('crlf', '\ufeffa\r\nb\r\n')
    await home.put('empty', '')
    await home.put('unended', 'x\n\ny')
    const [crlf, empty, unended, some, beyond] = await home.use([
      ['read_file', { path: 'crlf' }],
      ['read_file', { path: 'empty' }],
      ['read_file', { path: 'unended' }],
      ['read_file', { path: 'unended', first_line: 2, line_count: 1 }],
      ['read_file', { path: 'unended', first_line: 4 }],
    ])
    expect(crlf?.text).toBe('     1\ta\n     2\tb')
    expect(empty?.text).toBe('[the file is empty]')
    expect(unended?.text).toBe('     1\tx\n     2\t\n     3\ty')
    expect(some?.text).toBe('     2\t\n[lines 2 to 2 of 3]')
    expect(beyond).toEqual(failure('invalid_arguments: unended has 3 lines, so there is no line 4'))
  })

  it('says that a file is binary, and shows invalid UTF-8 as what it is', async () => {
    await home.put('image', new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 1]))
    await home.put('latin', new Uint8Array([0x61, 0xe9, 0x0a]))
    const [image, latin, raw] = await home.use([
      ['read_file', { path: 'image' }],
      ['read_file', { path: 'latin' }],
      ['read_file', { path: 'latin' }, { raw: true }],
    ])
    expect(image).toEqual(failure('binary_file: image is no text: 6 bytes, a PNG image. Read it with code.'))
    expect(latin?.text).toBe('     1\ta\ufffd\n[bytes that are not UTF-8 are shown as \ufffd]')
    expect(raw).toEqual(failure('not_text: latin is not UTF-8 at byte 1'))
  })

  it('reads whole lines of a file of 10 MB up to the limit, and says what is left', async () => {
    await home.put('large', Array.from({ length: 1_000_000 }, (_, line) => `line ${line + 1}`).join('\n'))
    await home.put('line', 'x'.repeat(10_000_000))
    const [large, last, line, raw] = await home.use([
      ['read_file', { path: 'large' }, { characters: 2_000 }],
      ['read_file', { path: 'large', first_line: 999_999 }, { characters: 2_000 }],
      ['read_file', { path: 'line' }, { characters: 20_000 }],
      ['read_file', { path: 'line' }, { raw: true }],
    ])
    expect(large?.text.length).toBeLessThan(2_000)
    expect(large?.text).toMatch(/^ {5}1\tline 1\n[^]*\n\[lines 1 to \d+ of 1000000\]$/)
    expect(last?.text).toBe('999999\tline 999999\n1000000\tline 1000000\n[lines 999999 to 1000000 of 1000000]')
    expect(line?.text).toMatch(/^ {5}1\tx{2000}\[\.\.\. \d+ more characters\]$/)
    expect(raw).toEqual(failure('too_large: line has 10000000 bytes, and 900000 can be read at once'))
  })
})

describe('write_file and edit_file', () => {
  it('a write makes folders, replaces a file at once and keeps its mode', async () => {
    await home.put('script', 'old')
    await chmod(join(home.path, 'script'), 0o755)
    const [created, replaced] = await home.use([
      ['write_file', { path: 'a/b/c.txt', content: 'é\r\n' }],
      ['write_file', { path: 'script', content: 'new' }],
    ])
    expect(created?.text).toMatch(/^created .*\/home\/a\/b\/c\.txt: 4 bytes$/)
    expect(replaced?.text).toMatch(/^replaced .*\/home\/script: 3 bytes$/)
    expect(await bytesOf('a/b/c.txt')).toEqual(Buffer.from('é\r\n'))
    expect((await stat(join(home.path, 'script'))).mode & 0o777).toBe(0o755)
  })

  it('an edit changes no byte outside of its place: byte order mark, line ends, invalid UTF-8', async () => {
    const before = Buffer.concat([Buffer.from('\ufeffa\r\n'), Buffer.from([0xff, 0xfe]), Buffer.from('\r\nend\r\n')])
    const middle = Buffer.from('one\r\ntwo\r\n')
    await home.put('odd', Buffer.concat([before, middle, before]))
    expect(
      await home.useOne('edit_file', { path: 'odd', old_text: 'one\ntwo\n', new_text: 'x\ny\nz\n' }),
    ).toMatchObject({
      text: expect.stringMatching(/^replaced 1 occurrence in .*, the first at line 4$/),
    })
    const after = await bytesOf('odd')
    expect(after.subarray(before.length, -before.length).toString()).toBe('x\r\ny\r\nz\r\n')
    expect(digestOf(after.subarray(0, before.length))).toBe(digestOf(before))
    expect(digestOf(after.subarray(-before.length))).toBe(digestOf(before))
  })

  it('an edit in a file with both kinds of line ends takes the text as it is', async () => {
    await home.put('mixed', 'a\nb\nc\r\nd\r\ne\r\n')
    await home.useOne('edit_file', { path: 'mixed', old_text: 'a\nb', new_text: 'a\nB' })
    expect((await bytesOf('mixed')).toString()).toBe('a\nB\nc\r\nd\r\ne\r\n')
  })

  it('an edit that matches zero or several times changes nothing', async () => {
    await home.put('many', 'x = 1\nx = 1\nx = 1\n')
    const [several, none, all, numbered] = await home.use([
      ['edit_file', { path: 'many', old_text: 'x = 1', new_text: 'y' }],
      ['edit_file', { path: 'many', old_text: 'X = 1', new_text: 'y' }],
      ['edit_file', { path: 'many', old_text: 'x = 1', new_text: 'x = 2', replace_all: true }],
      ['edit_file', { path: 'many', old_text: '     1\tx = 2', new_text: 'y' }],
    ])
    expect(several).toEqual(failure(/^several_matches: old_text is 3 times in many, at lines 1, 2, 3: /))
    expect(none).toEqual(failure(/^no_match: .* without line numbers\.$/))
    expect(all?.text).toMatch(/^replaced 3 occurrences/)
    expect(numbered).toEqual(failure(/^no_match/))
    expect((await bytesOf('many')).toString()).toBe('x = 2\nx = 2\nx = 2\n')
  })

  it('edits of nothing, of binary files and of huge files are refused', async () => {
    await home.put('huge', '')
    await truncate(join(home.path, 'huge'), 17 << 20)
    const texts = { old_text: 'a', new_text: 'b' }
    const runs = await home.use([
      ['edit_file', { path: 'many', old_text: '', new_text: 'b' }],
      ['edit_file', { path: 'many', old_text: 'b', new_text: 'b' }],
      ['edit_file', { path: 'image', ...texts }],
      ['edit_file', { path: 'huge', ...texts }],
      ['edit_file', { path: 'missing', ...texts }],
    ])
    const codes = ['invalid_arguments', 'invalid_arguments', 'binary_file', 'too_large', 'not_found']
    expect(runs.map(({ text }) => text.split(':')[0])).toEqual(codes)
  })
})

describe('list_files and grep', () => {
  it('lists 100 entries in the order of their paths, and says how many there are', async () => {
    await mkdir(join(home.path, 'many-files'))
    await Promise.all(Array.from({ length: 250 }, (_, index) => home.put(`many-files/${1_000 + index}`, 'x')))
    await mkdir(join(home.path, 'tree/deep/deeper'), { recursive: true })
    await home.put('tree/deep/file', 'abc')
    await home.put('tree/new\nline', '')
    await symlink('/etc', join(home.path, 'tree/link'))
    const [many, flat, deep, raw] = await home.use([
      ['list_files', { path: 'many-files' }],
      ['list_files', { path: 'tree' }],
      ['list_files', { path: 'tree', depth: 2 }],
      ['list_files', { path: 'tree/deep' }, { raw: true }],
    ])
    expect(many?.text).toMatch(/^1000 {2}1 bytes\n[^]*\n1099 {2}1 bytes\n\[100 of 250 entries: /)
    expect(flat?.text).toBe('deep/\nlink -> /etc\nnew\\nline  0 bytes')
    expect(deep?.text).toBe('deep/\ndeep/deeper/\ndeep/file  3 bytes\nlink -> /etc\nnew\\nline  0 bytes')
    expect(JSON.parse(raw?.text ?? '')).toEqual([
      { path: 'deeper', type: 'folder', size: expect.any(Number) as number },
      { path: 'file', type: 'file', size: 3 },
    ])
  })

  it('finds lines below a folder, and says what it did not search', async () => {
    await mkdir(join(home.path, 'src/.git'), { recursive: true })
    await home.put('src/a.py', 'import os\nTODO: x\n')
    await home.put('src/b.txt', 'todo\n')
    await home.put('src/.env', 'TODO=1\n')
    await home.put('src/.git/config', 'TODO\n')
    await home.put('src/bin', new Uint8Array([0, 1, 2]))
    const [exact, loose, glob, none, invalid, file] = await home.use([
      ['grep', { pattern: 'TODO', path: 'src' }],
      ['grep', { pattern: '^todo', path: 'src', ignore_case: true }],
      ['grep', { pattern: 'o', path: 'src', glob: '*.txt' }],
      ['grep', { pattern: 'nothing', path: 'src/a.py' }],
      ['grep', { pattern: '(', path: 'src' }],
      ['grep', { pattern: 'import', path: 'src/a.py' }],
    ])
    expect(exact?.text).toMatch(/^src\/a\.py:2: TODO: x\n\[2 files were not searched/)
    expect(loose?.text).toMatch(/^src\/a\.py:2: TODO: x\nsrc\/b\.txt:1: todo\n/)
    expect(glob?.text).toBe('src/b.txt:1: todo')
    expect(none?.text).toBe('[no line matches in 1 files]')
    expect(invalid).toEqual(failure(/^invalid_pattern: it is no regular expression: /))
    expect(file?.text).toBe('src/a.py:1: import os')
  })

  it('lists a folder of 100,000 files', async () => {
    await mkdir(join(home.path, 'crowd'))
    execFileSync('sh', ['-c', 'seq 100001 200000 | xargs touch'], { cwd: join(home.path, 'crowd') })
    expect((await home.useOne('list_files', { path: 'crowd' }))?.text).toMatch(
      /^100001 {2}0 bytes\n[^]*\n100100 {2}0 bytes\n\[100 of 100000 entries: /,
    )
  }, 60_000)

  it('shows 100 matches', async () => {
    await home.put('src/long', 'match\n'.repeat(1_000))
    expect((await home.useOne('grep', { pattern: 'match', path: 'src/long' }))?.text).toMatch(
      /^(src\/long:\d+: match\n){100}\[more than 100 lines match/,
    )
  })
})
