import { readFileSync } from 'node:fs'

/** Ids of the processes that a process has started, and that run. Linux only. */
export function childrenOf(pid: number): readonly number[] {
  return read(`/proc/${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number)
}

/** Sends SIGKILL, unless the process has ended. */
export function killIfRunning(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // The process has already ended.
  }
}

/** False when the process has ended, also when its parent does not know yet. */
export function isAlive(pid: number): boolean {
  const status = read(`/proc/${pid}/stat`)
  return status !== '' && !/\) Z /.test(status)
}

/** A process may end while its files are read. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
