import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { makeForeignOwned } from '../../test/support/faults/file-owner.js'
import { cachedCompiler } from './compile-cache.js'
import { loadConfig } from './load-config.js'

let folder = ''

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ptc-compile-'))
  vi.stubEnv('XDG_CACHE_HOME', folder)
})

afterEach(async () => {
  vi.unstubAllEnvs()
  await rm(folder, { recursive: true })
})

const cacheFolder = (): string => join(folder, 'durable-ptc/configurations')

const onlyFile = async (): Promise<string> => {
  const files = await readdir(cacheFolder())
  expect(files).toHaveLength(1)
  return join(cacheFolder(), files[0] ?? '')
}

function compilerWithCount() {
  const compiled: string[] = []
  const compile = cachedCompiler(({ source }) => {
    compiled.push(source)
    return `compiled ${source}`
  })
  return { compiled, compile: (source: string) => compile({ source, filename: '/project/ptc.config.ts' }).code }
}

test('compiles a source once, and again when it has changed', () => {
  const { compiled, compile } = compilerWithCount()
  expect([compile('one'), compile('one'), compile('two'), compile('two')]).toEqual([
    'compiled one',
    'compiled one',
    'compiled two',
    'compiled two',
  ])
  expect(compiled).toEqual(['one', 'two'])
})

test('does not cache code that could not be compiled', async () => {
  const compile = cachedCompiler(() => 'exports.__JITI_ERROR__ = {}')
  compile({ source: '{{{', filename: 'a.ts' })
  await expect(readdir(cacheFolder())).rejects.toMatchObject({ code: 'ENOENT' })
})

test('does not use a cached file of another user', async () => {
  const { compiled, compile } = compilerWithCount()
  compile('one')
  makeForeignOwned(await onlyFile())
  expect(compile('one')).toBe('compiled one')
  expect(compiled).toEqual(['one', 'one'])
})

test('compiles each time when the cache is not writable', async () => {
  await writeFile(join(folder, 'durable-ptc'), 'a file, not a folder')
  const { compiled, compile } = compilerWithCount()
  expect([compile('one'), compile('one')]).toEqual(['compiled one', 'compiled one'])
  expect(compiled).toEqual(['one', 'one'])
})

test('loads a configuration from its cached code, a file that only the user can access', async () => {
  const path = join(folder, 'ptc.config.ts')
  await writeFile(path, 'const turns: number = 7\nexport default { tools: [], limits: { turns } }\n')
  expect((await loadConfig(path)).runConfig.limits.turns).toBe(7)
  const file = await onlyFile()
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  const code = await readFile(file, 'utf8')
  await writeFile(file, code.replace('turns = 7', 'turns = 8'))
  // Otherwise this process would not load it again.
  delete createRequire(import.meta.url).cache[path]
  expect((await loadConfig(path)).runConfig.limits.turns).toBe(8)
})
