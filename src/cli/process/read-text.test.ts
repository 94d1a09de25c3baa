import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/support/folders.js'
import { readJson, readText } from './read-text.js'

it('reads JSON from the command line, or from the file that it names', async () => {
  const file = join(await temporaryFolder(), 'data.json')
  await writeFile(file, '[1, 2]')
  expect(await readJson('{"year": 2026}', '--input')).toEqual({ year: 2026 })
  expect(await readJson('null', '--input')).toBeNull()
  expect(await readJson(file, '--input')).toEqual([1, 2])
})

it('names the option of a file without JSON, and a file that does not exist', async () => {
  const file = join(await temporaryFolder(), 'data.txt')
  await writeFile(file, 'text')
  const failure = (message: string) => ({ code: 'RUN_INPUT_INVALID', message })
  await expect(readJson(file, '--input')).rejects.toMatchObject(
    failure(`--input: ${file} has no JSON: Unexpected token 'e', "text" is not valid JSON`),
  )
  await expect(readJson('{"year": 2026', '--input')).rejects.toMatchObject({
    message: expect.stringMatching(/^--input is not JSON: /),
    hint: expect.stringContaining('Quote it for the shell'),
  })
  await expect(readText(dirname(file))).rejects.toMatchObject(failure(`${dirname(file)} is a folder`))
  await expect(readJson('missing.json', '--input')).rejects.toMatchObject(failure('there is no file missing.json'))
})

it('reads a file with a byte order mark, and refuses other encodings with the name of the file', async () => {
  const folder = await temporaryFolder()
  const write = async (name: string, content: Buffer): Promise<string> => {
    await writeFile(join(folder, name), content)
    return join(folder, name)
  }
  expect(await readText(await write('bom.py', Buffer.from('\uFEFFprint(1)')))).toBe('print(1)')
  expect(await readJson(await write('bom.json', Buffer.from('\uFEFF[1]')), '--input')).toEqual([1])
  const utf16 = await write('utf16.json', Buffer.from('\uFEFF[1]', 'utf16le'))
  const latin1 = await write('latin1.py', Buffer.from('# coding: latin-1\nprint("é")', 'latin1'))
  const failure = (message: string) => ({ code: 'RUN_INPUT_INVALID', message })
  await expect(readJson(utf16, '--input')).rejects.toMatchObject(failure(`${utf16} is UTF-16, not UTF-8`))
  await expect(readText(latin1)).rejects.toMatchObject(failure(`${latin1} is not UTF-8: line 2 has other bytes`))
})
