import { existsSync } from 'node:fs'
import { mkdtemp, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { withFileLock } from './file-lock.js'

async function lockPath(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'file-lock-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  return join(folder, 'x.lock')
}

const signal = new AbortController().signal

test('one caller at a time holds the lock', async () => {
  const path = await lockPath()
  let holders = 0
  let maxHolders = 0
  const work = async (): Promise<void> => {
    holders += 1
    maxHolders = Math.max(maxHolders, holders)
    await turn()
    holders -= 1
  }
  await Promise.all(Array.from({ length: 5 }, () => withFileLock(path, signal, work)))
  expect(maxHolders).toBe(1)
})

test('releases the lock after work that throws', async () => {
  const path = await lockPath()
  await expect(withFileLock(path, signal, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  expect(existsSync(path)).toBe(false)
})

test.concurrent('takes over a lock whose holder stopped its heartbeat', async () => {
  const path = await lockPath()
  await writeFile(path, '1')
  expect(await withFileLock(path, signal, () => Promise.resolve('done'))).toBe('done')
})

test.concurrent.each([
  ['an hour behind', -3_600_000],
  ['an hour ahead', 3_600_000],
])('respects the heartbeat of a lock holder whose clock is %s', async (_how, offset) => {
  const path = await lockPath()
  await writeFile(path, '1')
  let heartbeats = 0
  const controller = new AbortController()
  const heartbeat = setInterval(() => {
    const now = new Date(Date.now() + offset)
    void utimes(path, now, now)
    heartbeats += 1
    // Longer than the time after which a lock without heartbeats is free.
    if (heartbeats === 14) controller.abort(new Error('held all the time'))
  }, 500)
  onTestFinished(() => clearInterval(heartbeat))
  await expect(withFileLock(path, controller.signal, () => Promise.resolve())).rejects.toMatchObject({
    cause: { message: 'held all the time' },
  })
})

test('stops waiting for the lock when the signal fires', async () => {
  const path = await lockPath()
  await writeFile(path, '1')
  const controller = new AbortController()
  const waiting = withFileLock(path, controller.signal, () => Promise.resolve())
  controller.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow()
  expect(existsSync(path)).toBe(true)
})
