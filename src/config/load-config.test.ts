import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { makeForeignOwned } from '../../test/support/faults/file-owner.js'
import { loadConfig } from './load-config.js'

let folder = ''

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ptc-config-'))
})

afterEach(() => rm(folder, { recursive: true }))

async function write(name: string, text: string): Promise<string> {
  const path = join(folder, name)
  await mkdir(join(path, '..'), { recursive: true })
  await writeFile(path, text)
  return path
}

const good = 'const turns: number = 7\nexport default { tools: [], limits: { turns } }\n'

describe('loadConfig', () => {
  it('finds ptc.config.ts in a parent folder', async () => {
    const path = await write('ptc.config.ts', good)
    await write('a/b/other.txt', '')
    const loaded = await loadConfig(undefined, join(folder, 'a/b'))
    expect(loaded).toMatchObject({ path, runConfig: { limits: { turns: 7 } } })
  })

  it('prefers the configuration in the nearest folder, and TypeScript to JavaScript', async () => {
    await write('ptc.config.ts', good)
    await write('a/ptc.config.mjs', 'export default { tools: [], limits: { turns: 1 } }')
    expect((await loadConfig(undefined, join(folder, 'a'))).runConfig.limits.turns).toBe(1)
    await write('a/ptc.config.ts', 'export default { tools: [], limits: { turns: 2 } }')
    expect((await loadConfig(undefined, join(folder, 'a'))).runConfig.limits.turns).toBe(2)
  })

  it('rejects a configuration of another user without running it, unless the user names it', async () => {
    onTestFinished(() => void Reflect.deleteProperty(globalThis, 'ranForeign')) // other test files see it
    const path = await write('ptc.config.ts', `(globalThis as any).ranForeign = true\n${good}`)
    makeForeignOwned(path)
    await expect(loadConfig(undefined, folder)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(/^ptc\.config\.ts belongs to another user/),
      hint: 'If you trust it, name it: --config ptc.config.ts',
    })
    expect(globalThis).not.toHaveProperty('ranForeign')
    expect(await loadConfig('ptc.config.ts', folder)).toMatchObject({ path, runConfig: { limits: { turns: 7 } } })
    expect(globalThis).toHaveProperty('ranForeign', true)
  })

  it('fails with a hint when there is no configuration', async () => {
    await expect(loadConfig(undefined, folder)).rejects.toMatchObject({
      code: 'CONFIG_NOT_FOUND',
      message: 'no ptc.config.ts in this folder or one above',
      hint: expect.stringContaining('--config'),
    })
    await expect(loadConfig('x/mine.ts', folder)).rejects.toMatchObject({
      code: 'CONFIG_NOT_FOUND',
      message: 'there is no configuration file x/mine.ts',
    })
  })

  it.each<[string, string, RegExp]>([
    ['is no TypeScript', 'export default {{{', /^mine\.ts can't be loaded: .*Unexpected token/],
    ['throws', 'throw new Error("no database")', /^mine\.ts can't be loaded: no database$/],
    [
      'imports what is not there',
      'import "./nothing.js"\nexport default {}',
      /^mine\.ts can't be loaded: Cannot find module/,
    ],
    ['has no default export', 'export const config = {}', /^mine\.ts has no default export$/],
    ['is no configuration', 'export default 7', /^mine\.ts is not a valid configuration:\n.*expected object/],
    ['exports a function', 'export default () => ({})', /^mine\.ts is not a valid configuration:\n.*expected object/],
  ])('rejects a configuration that %s', async (_what, text, message) => {
    await write('mine.ts', text)
    await expect(loadConfig('mine.ts', folder)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringMatching(message),
    })
  })
})
