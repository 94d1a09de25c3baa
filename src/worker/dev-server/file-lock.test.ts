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

test('of several who want it, one holds it at a time', async () => {
  const path = await lockPath()
  let holders = 0
  let most = 0
  const work = async (): Promise<void> => {
    holders += 1
    most = Math.max(most, holders)
    await turn()
    holders -= 1
  }
  await Promise.all(Array.from({ length: 5 }, () => withFileLock(path, signal, work)))
  expect(most).toBe(1)
})

test('it is free again after work that throws', async () => {
  const path = await lockPath()
  await expect(withFileLock(path, signal, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken')
  expect(existsSync(path)).toBe(false)
})

test.concurrent('a lock whose holder stopped beating is taken over', async () => {
  const path = await lockPath()
  await writeFile(path, '1')
  expect(await withFileLock(path, signal, () => Promise.resolve('done'))).toBe('done')
})

test.concurrent.each([
  ['an hour behind', -3_600_000],
  ['an hour ahead', 3_600_000],
])('a lock whose holder beats is held, though the clock of the holder is %s', async (_how, offset) => {
  const path = await lockPath()
  await writeFile(path, '1')
  let beats = 0
  const controller = new AbortController()
  const beat = setInterval(() => {
    const now = new Date(Date.now() + offset)
    void utimes(path, now, now)
    beats += 1
    // Longer than a holder that does not beat would have had.
    if (beats === 14) controller.abort(new Error('held all the time'))
  }, 500)
  onTestFinished(() => clearInterval(beat))
  await expect(withFileLock(path, controller.signal, () => Promise.resolve())).rejects.toMatchObject({
    cause: { message: 'held all the time' },
  })
})

test('waiting for a held lock ends with its signal', async () => {
  const path = await lockPath()
  await writeFile(path, '1')
  const controller = new AbortController()
  const waiting = withFileLock(path, controller.signal, () => Promise.resolve())
  controller.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow()
  expect(existsSync(path)).toBe(true)
})
