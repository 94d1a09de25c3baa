import { readdirSync, readFileSync } from 'node:fs'

/** The parents of all processes, by process id. Linux only. */
export function parentsOfAll(): ReadonlyMap<number, number> {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger)
  return new Map(pids.flatMap((pid) => (parentOf(pid) === undefined ? [] : [[pid, parentOf(pid) ?? 0] as const])))
}

/** Whether one of these processes is the process itself or one of its ancestors. */
export function descendsFrom(pid: number, ancestors: readonly number[], parents: ReadonlyMap<number, number>): boolean {
  for (let at: number | undefined = pid; at !== undefined && at > 1; at = parents.get(at)) {
    if (ancestors.includes(at)) return true
  }
  return false
}

/** Memory of a process in bytes, with shared pages divided among processes (PSS); 0 when the process has ended. */
export function proportionalBytes(pid: number): number {
  const kibibytes = /^Pss:\s+(\d+) kB/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1]
  return Number(kibibytes ?? 0) * 1024
}

/** @returns undefined for a process that has ended */
function parentOf(pid: number): number | undefined {
  const parent = /^PPid:\s+(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1]
  return parent === undefined ? undefined : Number(parent)
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
