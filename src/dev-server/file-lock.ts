import { link, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { randomUUID } from 'node:crypto'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { hasErrorCode } from '../common/system-error.js'
import { makeFolder } from '../platform/make-folder.js'

const heartbeatMs = 1_000
/**
 * After five missed heartbeats the holder counts as dead. Process ids do not work: they are reused, and differ between
 * containers. A waiter compares heartbeats with each other, not with the clock, which may jump. The package
 * proper-lockfile compares them with the clock, and two waiters that find the same stale lock may both take it.
 */
const staleMs = 5_000
const pollMs = 100

/** The last heartbeat and when it was first seen (`performance.now`). */
interface Heartbeat {
  readonly at: number | undefined
  readonly since: number
}

/**
 * Runs `work` while no other process runs under the same lock file. A holder that dies frees the lock after 5 s.
 *
 * @throws the signal's reason when it fires while waiting, and what `work` throws
 */
export async function withFileLock<T>(path: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  await makeFolder(dirname(path))
  let seen: Heartbeat | undefined
  while (!(await tryAcquire(path))) {
    const heartbeat = await lastHeartbeat(path)
    if (heartbeat === undefined || heartbeat !== seen?.at) seen = { at: heartbeat, since: performance.now() }
    else if (performance.now() - seen.since > staleMs) await removeIfStill(path, heartbeat)
    await delay(pollMs, undefined, { signal })
  }
  let heartbeats = 0
  const timer = setInterval(() => {
    // Differs from the previous heartbeat even when the clock stands still.
    const now = new Date(Date.now() + (heartbeats += 1))
    // Fails only when another process removed the lock file. The work continues.
    utimes(path, now, now).catch(() => {})
  }, heartbeatMs)
  try {
    return await work()
  } finally {
    clearInterval(timer)
    await rm(path, { force: true })
  }
}

async function tryAcquire(path: string): Promise<boolean> {
  try {
    await writeFile(path, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if (hasErrorCode(error, 'EEXIST')) return false
    throw error
  }
}

/**
 * Renames a stale lock before it deletes it, because another process may have taken the lock in between. If so, puts it
 * back.
 */
async function removeIfStill(path: string, stale: number): Promise<void> {
  const aside = `${path}.${randomUUID()}`
  try {
    await rename(path, aside)
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return
    throw error
  }
  if ((await lastHeartbeat(aside)) !== stale) {
    await link(aside, path).catch((error: unknown) => {
      if (!hasErrorCode(error, 'EEXIST')) throw error
    })
  }
  await rm(aside, { force: true })
}

/** Time of the holder's last heartbeat by the holder's clock; undefined when there is no lock. */
async function lastHeartbeat(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mtimeMs
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return undefined
    throw error
  }
}
