import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { giveAway } from '../../test/support/foreign.js'
import { requireTrusted } from './trusted-path.js'

async function ownFile(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ptc-trust-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  const path = join(folder, 'file')
  await writeFile(path, '')
  return path
}

test('what belongs to this user or to root is trusted', async () => {
  expect(() => requireTrusted('/', '/', 'hint')).not.toThrow()
  const path = await ownFile()
  expect(() => requireTrusted(path, path, 'hint')).not.toThrow()
})

test('what belongs to another user is not, nor is a link to it', async () => {
  const path = await ownFile()
  const link = `${path}-link`
  await symlink(path, link)
  giveAway(path)
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

test.runIf(process.geteuid?.() === 0)('under sudo, what belongs to the user who called it is trusted', async () => {
  const path = await ownFile()
  giveAway(path)
  vi.stubEnv('SUDO_UID', '65534')
  onTestFinished(() => void vi.unstubAllEnvs())
  expect(() => requireTrusted(path, path, 'hint')).not.toThrow()
})
