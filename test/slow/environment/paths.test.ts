import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { failure, type ToolProgram, useHome } from '../../support/environment-tools/run-tools.js'

const home = useHome()

describe('paths of environment tools', () => {
  it('a path stays in the folders of the session after links are resolved', async () => {
    const sibling = `${home.path}-secret`
    await mkdir(sibling)
    await writeFile(join(sibling, 'key'), 'outside')
    await mkdir(join(home.path, 'inner'))
    await home.put('inner/file', 'inside\n')
    await symlink('inner', join(home.path, 'link-inside'))
    await symlink(sibling, join(home.path, 'link-outside'))
    await symlink(join(sibling, 'key'), join(home.path, 'file-outside'))
    await symlink('loop', join(home.path, 'loop'))
    const read = (path: string): ToolProgram => ['read_file', { path }]
    const [inside, ...others] = await home.use([
      read('link-inside/file'),
      read(`${home.path}/inner/../inner/file`),
      read('../home-secret/key'),
      read(`${sibling}/key`),
      read('link-outside/key'),
      read('file-outside'),
      read('/proc/self/root/etc/passwd'),
      read('/proc/self/environ'),
      read('/dev/zero'),
      ['write_file', { path: 'link-outside/new', content: 'x' }],
      ['write_file', { path: 'file-outside', content: 'x' }],
      ['write_file', { path: '../new', content: 'x' }],
      ['edit_file', { path: 'file-outside', old_text: 'outside', new_text: 'x' }],
      ['list_files', { path: 'link-outside' }],
      ['grep', { pattern: 'outside', path: 'link-outside' }],
      read('loop'),
    ])
    expect(inside).toEqual({ text: '     1\tinside', isFailure: false })
    expect(others[0]).toEqual(inside)
    const outside = others.slice(1, -1)
    expect(outside.map(({ text }) => text.split(':')[0])).toEqual(outside.map(() => 'path_outside'))
    expect(others.at(-1)).toEqual(failure(/^path_changed: loop: a link/))
    expect(await readFile(join(sibling, 'key'), 'utf8')).toBe('outside')
    // A search does not follow the links that it finds.
    expect(await home.useOne('grep', { pattern: 'outside' })).toMatchObject({
      text: expect.stringMatching(/^\[no line matches/),
    })
  })

  it('a folder that becomes a link to the outside while a tool runs leads nowhere', async () => {
    const [outside, folder, link] = [
      join(home.root, 'raced-outside'),
      join(home.path, 'raced'),
      join(home.path, 'raced-link'),
    ]
    await mkdir(outside)
    await mkdir(folder)
    await writeFile(join(outside, 'file'), 'outside')
    await writeFile(join(folder, 'file'), 'inside')
    await symlink(outside, link)
    // Exchanges the folder and the link as fast as possible.
    const exchange = `
import ctypes, os, sys
renameat2 = ctypes.CDLL(None).renameat2
sys.stdout.write("ready"); sys.stdout.flush()
while os.getppid() != 1: renameat2(-100, sys.argv[1].encode(), -100, sys.argv[2].encode(), 2)`
    const racer = spawn('python3', ['-c', exchange, folder, link], { stdio: ['ignore', 'pipe', 'inherit'] })
    try {
      await once(racer.stdout, 'data')
      const uses = Array.from({ length: 1_500 }, (): ToolProgram[] => [
        ['read_file', { path: 'raced/file' }],
        ['write_file', { path: 'raced/new', content: 'x' }],
      ]).flat()
      const runs = await home.use(uses)
      const kinds = new Set(runs.map(({ text }) => text.split(/[:\t]/)[0]?.trim()))
      expect(
        [...kinds].filter((kind) => !/^(1|path_outside|path_changed|created .*|replaced .*)$/.test(kind ?? '')),
      ).toEqual([])
      expect(kinds).toContain('path_changed')
      expect(runs.filter(({ text }) => text.includes('1\toutside'))).toEqual([])
      expect(await readdir(outside)).toEqual(['file'])
    } finally {
      racer.kill()
      await once(racer, 'exit')
    }
  }, 60_000)

  it('names with control characters and surrogates are refused, others are not', async () => {
    const names = ['é ü.txt', 'e\u0301.txt', '文.txt', '-rf', 'a\'b"c', 'a\u202fb', '.hidden']
    const written = await home.use(names.map((path) => ['write_file', { path, content: path }]))
    expect(written.filter(({ isFailure }) => isFailure)).toEqual([])
    for (const name of names) expect(await readFile(join(home.path, name), 'utf8')).toBe(name)
    const bad = ['', 'a\nb', 'a\0b', 'a\u001b[2Jb', 'a\u0085b', '\ud800', 'x'.repeat(256)]
    const refused = await home.use(bad.map((path) => ['read_file', { path }]))
    expect(refused.map(({ text }) => text.split(':')[0])).toEqual(bad.map(() => 'invalid_path'))
    expect(refused[3]?.text).toContain('a\\x1b[2Jb')
  })

  it('only regular files are read and written, and none of them makes a tool wait', async () => {
    execFileSync('mkfifo', [join(home.path, 'fifo')])
    const [fifo, folder, overFifo, overFolder, belowFile, missing] = await home.use([
      ['read_file', { path: 'fifo' }],
      ['read_file', { path: '.' }],
      ['write_file', { path: 'fifo', content: 'x' }],
      ['write_file', { path: 'inner', content: 'x' }],
      ['write_file', { path: 'inner/file/x', content: 'x' }],
      ['read_file', { path: 'missing' }],
    ])
    expect(fifo).toEqual(failure('not_a_file: fifo is a FIFO'))
    expect(folder).toEqual(failure('not_a_file: . is a folder'))
    expect(overFifo).toEqual(failure('not_a_file: fifo is a FIFO'))
    expect(overFolder).toEqual(failure('not_a_file: inner is a folder'))
    expect(belowFile).toEqual(failure(/^not_found: .*a part of the path is not a folder/))
    expect(missing).toEqual(failure('not_found: missing: there is no such file or folder'))
  })

  it('a folder that can only be read is not written', async () => {
    const readable = join(home.root, 'readable')
    await mkdir(readable)
    await writeFile(join(readable, 'f'), 'content')
    const path = join(readable, 'f')
    const [read, write, edit] = await home.use(
      [
        ['read_file', { path }],
        ['write_file', { path, content: 'x' }],
        ['edit_file', { path, old_text: 'content', new_text: 'x' }],
      ],
      [readable],
    )
    expect(read?.text).toBe('     1\tcontent')
    expect([write, edit]).toEqual([failure(/^read_only: /), failure(/^read_only: /)])
  })
})
