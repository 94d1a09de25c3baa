import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { filesIn, temporaryFolder } from '../../../test/support/folders.js'
import { create, file, insert, openMemory, replace, view } from '../../../test/support/memory/memory-tool.js'

const keys: Readonly<Record<string, string>> = {
  k1: randomBytes(32).toString('base64'),
  k2: randomBytes(32).toString('base64'),
}
const encryptedBy = (currentKeyId: string, known = keys) => ({
  encryption: { currentKeyId, key: (id: string) => known[id] },
})

/** All bytes of a folder, and the names of its files. */
async function everythingIn(folder: string): Promise<string> {
  const files = await filesIn(folder)
  const contents = await Promise.all(files.map((each) => readFile(each, 'latin1')))
  return [...files, ...contents].join('\n')
}

test('neither a text, nor a path, nor the scope can be read in the store', async () => {
  const folder = await temporaryFolder()
  const call = await openMemory(folder, encryptedBy('k1'))
  await call(create('the number of the account\n', '/memories/accounts.txt'))
  expect(await call(view('/memories/accounts.txt'))).toContain('the number of the account')
  const stored = await everythingIn(folder)
  for (const secret of ['account', 'ada']) expect(stored).not.toContain(secret)
  const plainFolder = await temporaryFolder()
  await (
    await openMemory(plainFolder)
  )(create('the number of the account\n'))
  expect(await everythingIn(plainFolder)).toContain('account')
})

test('files from before the encryption, and of an earlier key, are read and edited', async () => {
  const folder = await temporaryFolder()
  await (
    await openMemory(folder)
  )(create('one\n'))
  await (
    await openMemory(folder, encryptedBy('k1'))
  )(insert(1, 'two\n'))
  const call = await openMemory(folder, encryptedBy('k2'))
  await call(replace('one', '1'))
  expect(await call(view())).toContain('     1\t1\n     2\ttwo')
})

test('without the key, or after a change in the store, a call fails with its code', async () => {
  const folder = await temporaryFolder()
  await (
    await openMemory(folder, encryptedBy('k1'))
  )(create('one\n'))
  const withoutKey = await openMemory(folder, encryptedBy('k2', { k2: keys['k2'] ?? '' }))
  await expect(withoutKey(view())).rejects.toMatchObject({ code: 'ENCRYPTION_KEY_UNAVAILABLE' })
  for (const each of await filesIn(folder)) {
    const content = await readFile(each)
    content[content.length - 1] = (content.at(-1) ?? 0) ^ 1
    await writeFile(each, content)
  }
  await expect((await openMemory(folder, encryptedBy('k1')))(view())).rejects.toMatchObject({
    code: 'DECRYPTION_FAILED',
  })
})

test('the largest file of a scope fits into its encrypted object', async () => {
  const call = await openMemory(await temporaryFolder(), { ...encryptedBy('k1'), limits: { fileBytes: 1024 ** 2 } })
  await call(create('x'.repeat(1024 ** 2)))
  expect(await call(view(file, [1, 1]))).toContain('xxx')
})
