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

test('a lock whose holder stopped beating is taken over', async () => {
  const path = await lockPath()
  await writeFile(path, '1')
  const longAgo = new Date(Date.now() - 6_000)
  await utimes(path, longAgo, longAgo)
  expect(await withFileLock(path, signal, () => Promise.resolve('done'))).toBe('done')
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
