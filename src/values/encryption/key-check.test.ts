import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/support/folders.js'
import { LocalStore } from '../local/local-store.js'
import { verifyKey } from './key-check.js'

const signal = new AbortController().signal
const key = { id: 'k1', bytes: randomBytes(32) }
const other = { id: 'k1', bytes: randomBytes(32) }
let directory = ''

beforeEach(async () => {
  directory = await temporaryFolder()
})

function check({ id, bytes }: typeof key): Promise<void> {
  return verifyKey(new LocalStore(directory), { id, bytes }, signal)
}

it('verifyKey accepts the first key of an id, and refuses another key of the same id', async () => {
  await check(key)
  await check(key)
  await expect(check(other)).rejects.toMatchObject({
    code: 'DECRYPTION_FAILED',
    retryable: false,
    message: `the encryption key "k1" here is not the one that the folder ${directory} knows under this id`,
    hint: expect.stringContaining('remove key-check-k1 there'),
  })
  await check(key)
})

it('verifyKey accepts a new key under a new id', async () => {
  await check(key)
  await check({ ...other, id: 'k2' })
  await check(key)
})

it('verifyKey accepts one key from processes that start at once, and only one of two different keys', async () => {
  await Promise.all([check(key), check(key), check(key)])
  const ofBoth = await Promise.allSettled([key, other].map((each) => check({ ...each, id: 'k2' })))
  expect(ofBoth.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
})

it('the key check in the store does not reveal the key', async () => {
  await check(key)
  const stored = await readFile(join(directory, 'key-check-k1'), 'latin1')
  expect(stored).toMatch(/^[0-9a-f]{64}$/)
  expect(stored).not.toBe(key.bytes.toString('hex'))
})
