import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { giveAway } from '../../../test/support/foreign.js'
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

test('a record is for its user only, in a folder for its user only', async () => {
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

test.each(['temporal.json', '.'])('a server is not connected to when %s belongs to another user', async (name) => {
  await writeServerRecord(state, record)
  giveAway(join(state, name))
  await expect(findRunningDevServer(state)).rejects.toMatchObject({
    code: 'CONFIG_INVALID',
    message: expect.stringContaining('belongs to another user'),
  })
})

test.each(['example.com:7233', '10.0.0.1:7233', '127.0.0.1:7233@example.com:1'])(
  'a record that leads to %s, on another machine, is none',
  async (address) => {
    await writeServerRecord(state, { ...record, address })
    expect(await readServerRecord(state)).toBeUndefined()
  },
)
