import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/support/folders.js'
import { readJson } from './read-text.js'

it('reads JSON from the command line, or from the file that it names', async () => {
  const file = join(await temporaryFolder(), 'data.json')
  await writeFile(file, '[1, 2]')
  expect(await readJson('{"year": 2026}', '--input')).toEqual({ year: 2026 })
  expect(await readJson('null', '--input')).toBeNull()
  expect(await readJson(file, '--input')).toEqual([1, 2])
})

it('names the option of a file that has no JSON, and the file that does not exist', async () => {
  const file = join(await temporaryFolder(), 'data.txt')
  await writeFile(file, 'text')
  const failure = (message: string) => ({ code: 'RUN_INPUT_INVALID', message })
  await expect(readJson(file, '--input')).rejects.toMatchObject(failure(`--input: ${file} has no JSON`))
  await expect(readJson('missing.json', '--input')).rejects.toMatchObject(failure('there is no file missing.json'))
})
