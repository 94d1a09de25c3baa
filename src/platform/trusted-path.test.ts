import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { makeForeignOwned } from '../../test/support/faults/file-owner.js'
import { requireTrusted } from './trusted-path.js'

async function ownFile(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ptc-trust-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const path = join(folder, 'file')
  await writeFile(path, '')
  return path
}

test('trusts files of this user and of root', async () => {
  expect(() => requireTrusted('/', '/', 'hint')).not.toThrow()
  const path = await ownFile()
  expect(() => requireTrusted(path, path, 'hint')).not.toThrow()
})

test('rejects a file of another user, and a link to it', async () => {
  const path = await ownFile()
  const link = `${path}-link`
  await symlink(path, link)
  makeForeignOwned(path)
  for (const each of [path, link]) {
    expect(() => requireTrusted(each, 'file', 'Move it.')).toThrow(
      expect.objectContaining({
        code: 'CONFIG_INVALID',
        message: expect.stringMatching(/^file belongs to another user \(uid \d+\) and is not used$/),
        hint: 'Move it.',
      }),
    )
  }
})

test.runIf(process.geteuid?.() === 0)('trusts files of the user who called sudo', async () => {
  const path = await ownFile()
  makeForeignOwned(path)
  vi.stubEnv('SUDO_UID', '65534')
  onTestFinished(() => void vi.unstubAllEnvs())
  expect(() => requireTrusted(path, path, 'hint')).not.toThrow()
})
