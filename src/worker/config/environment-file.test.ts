import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { loadEnvironmentFile } from './environment-file.js'

async function folderWith(text?: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'ptc-env-file-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  if (text !== undefined) await writeFile(join(folder, '.env'), text)
  return folder
}

test('sets the variables that are not set, except those of Temporal', async () => {
  const environment: Record<string, string | undefined> = { SET: 'before' }
  await loadEnvironmentFile(
    await folderWith('# a comment\nSET=after\nNEW="a b"\nTEMPORAL_ADDRESS=elsewhere\n'),
    environment,
  )
  expect(environment).toEqual({ SET: 'before', NEW: 'a b' })
})

test('does nothing without the file', async () => {
  const environment = {}
  await loadEnvironmentFile(await folderWith(), environment)
  expect(environment).toEqual({})
})
