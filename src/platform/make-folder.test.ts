import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { makeFolder, makeFolderSync } from './make-folder.js'

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ptc-folder-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}

describe.each([
  ['makeFolder', makeFolder],
  ['makeFolderSync', (path: string, mode?: number) => Promise.resolve().then(() => makeFolderSync(path, mode))],
])('%s', (_name, make) => {
  it('makes the missing folders with the mode, and accepts an existing one', async () => {
    const path = join(temporary(), 'a', 'b', 'c')
    await make(path, 0o700)
    await make(path, 0o700)
    expect(statSync(path).mode & 0o777).toBe(0o700)
    expect(statSync(join(path, '..', '..')).mode & 0o777).toBe(0o700)
    await make('/')
  })

  it('two callers at once make the same folders', async () => {
    const path = join(temporary(), 'a', 'b')
    await Promise.all([make(path), make(path), make(join(path, 'c'))])
    expect(statSync(join(path, 'c')).isDirectory()).toBe(true)
  })

  it('making a folder fails for a file, and below a file', async () => {
    const file = join(temporary(), 'file')
    writeFileSync(file, '')
    await expect(make(file)).rejects.toThrow('EEXIST')
    await expect(make(join(file, 'a'))).rejects.toThrow('ENOTDIR')
  })

  it.runIf(process.platform === 'linux')(
    'making a folder fails at once in cases in which Node with `recursive` never ends',
    async () => {
      await expect(make('/proc/nope')).rejects.toThrow('ENOENT')
      await expect(make('/proc/nope/deeper/still')).rejects.toThrow('ENOENT')
    },
  )
})
