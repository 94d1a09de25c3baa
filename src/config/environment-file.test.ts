import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { loadEnvironmentFile } from './environment-file.js'

async function folderWith(text?: string | Buffer): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ptc-env-file-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  if (text !== undefined) await writeFile(join(folder, '.env'), text)
  return folder
}

test('sets the variables of .env that are not set, except those of Temporal', async () => {
  const environment: Record<string, string | undefined> = { SET: 'before' }
  await loadEnvironmentFile(
    await folderWith('# a comment\nSET=after\nNEW="a b"\nTEMPORAL_ADDRESS=elsewhere\n'),
    environment,
  )
  expect(environment).toEqual({ SET: 'before', NEW: 'a b' })
})

test('a missing .env sets no variable', async () => {
  const environment = {}
  await loadEnvironmentFile(await folderWith(), environment)
  expect(environment).toEqual({})
})

test('reads a .env with a byte order mark, and refuses other encodings with the name of the file', async () => {
  const environment = {}
  await loadEnvironmentFile(await folderWith('\uFEFFFIRST=1\nSECOND=2\n'), environment)
  expect(environment).toEqual({ FIRST: '1', SECOND: '2' })
  const folder = await folderWith(Buffer.from('\uFEFFFIRST=1\r\n', 'utf16le'))
  const message = `${join(folder, '.env')} is UTF-16, not UTF-8`
  await expect(loadEnvironmentFile(folder, {})).rejects.toMatchObject({ code: 'CONFIG_INVALID', message })
})
