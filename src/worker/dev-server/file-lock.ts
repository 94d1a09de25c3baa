import { link, mkdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { randomUUID } from 'node:crypto'
import { dirname } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

const beatMs = 1_000
/**
 * Five missed beats: the holder was killed. By time, not by process id: ids are reused, and differ between containers. Beats
 * are watched for, not compared with the clock, which may jump.
 */
const staleMs = 5_000
const pollMs = 100

/** A beat, and since when there was none after it (`performance.now`). */
interface Beat {
  readonly at: number | undefined
  readonly since: number
}

/**
 * Runs `work` while no other process runs under the same lock file. A holder that dies frees the lock after 5 s.
 *
 * @throws the signal's reason when it fires while waiting, and what `work` throws
 */
export async function withFileLock<T>(path: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  await mkdir(dirname(path), { recursive: true })
  let seen: Beat | undefined
  while (!(await take(path))) {
    const beat = await lastBeat(path)
    if (beat === undefined || beat !== seen?.at) seen = { at: beat, since: performance.now() }
    else if (performance.now() - seen.since > staleMs) await removeIfStill(path, beat)
    await delay(pollMs, undefined, { signal })
  }
  let beats = 0
  const beat = setInterval(() => {
    // Differs from the last one even if the clock stands still.
    const now = new Date(Date.now() + (beats += 1))
    // Fails only when somebody removed our lock; the work goes on all the same.
    utimes(path, now, now).catch(() => {})
  }, beatMs)
  try {
    return await work()
  } finally {
    clearInterval(beat)
    await rm(path, { force: true })
  }
}

async function take(path: string): Promise<boolean> {
  try {
    await writeFile(path, String(process.pid), { flag: 'wx' })
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    throw error
  }
}

/** Moves a stale lock aside before it is deleted: what was moved may be the fresh lock of another who was faster. */
async function removeIfStill(path: string, stale: number): Promise<void> {
  const aside = `${path}.${randomUUID()}`
  try {
    await rename(path, aside)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return
    throw error
  }
  if ((await lastBeat(aside)) !== stale) {
    await link(aside, path).catch((error: unknown) => {
      if (!hasCode(error, 'EEXIST')) throw error
    })
  }
  await rm(aside, { force: true })
}

/** When the holder last said that it lives, by the clock it then had; undefined when there is no lock. */
async function lastBeat(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).mtimeMs
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

/** Is this a system error with this code (`ENOENT`, `EEXIST` …)? */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}
