import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { makeForeignOwned } from '../../test/support/faults/file-owner.js'
import { findRunningDevServer, readServerRecord, writeServerRecord } from './running-server.js'
import { prepareStateDirectory } from './state-directory.js'

const record = { owner: process.pid, pid: process.pid, address: '127.0.0.1:7233', namespace: 'default' }
let state = ''

beforeEach(async () => {
  const folder = await mkdtemp(join(tmpdir(), 'ptc-state-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  state = join(folder, '.ptc')
  await prepareStateDirectory(state)
})

test('only the user can read the record of a dev server and its folder', async () => {
  await writeServerRecord(state, record)
  expect(await readServerRecord(state)).toEqual(record)
  for (const [path, mode] of [
    [state, 0o700],
    [join(state, 'temporal.json'), 0o600],
    [join(state, '.gitignore'), 0o600],
  ] as const) {
    expect((await stat(path)).mode & 0o777, path).toBe(mode)
  }
})

test.each(['temporal.json', '.'])('does not connect to a server when %s belongs to another user', async (name) => {
  await writeServerRecord(state, record)
  makeForeignOwned(join(state, name))
  await expect(findRunningDevServer(state)).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining('belongs to another user'),
  })
})

test.each(['example.com:7233', '10.0.0.1:7233', '127.0.0.1:7233@example.com:1'])(
  'ignores a record with address %s on another machine',
  async (address) => {
    await writeServerRecord(state, { ...record, address })
    expect(await readServerRecord(state)).toBeUndefined()
  },
)
