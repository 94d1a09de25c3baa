import { readdirSync, readFileSync } from 'node:fs'
import Dockerode from 'dockerode'

/**
 * Memory in bytes of running containers on this host: their processes and shims, with shared pages divided among
 * processes (PSS). Without kernel memory.
 *
 * @throws Error when the daemon is on another machine or in another process namespace
 */
export async function containerMemory(names: readonly string[]): Promise<number> {
  const docker = new Dockerode()
  const mains = await Promise.all(names.map(async (name) => (await docker.getContainer(name).inspect()).State.Pid))
  const parents = parentsOfAll()
  const isOurs = (pid: number): boolean => {
    for (let at: number | undefined = pid; at !== undefined && at > 1; at = parents.get(at)) {
      if (mains.includes(at)) return true
    }
    return false
  }
  const shims = new Set(mains.map((pid) => parents.get(pid) ?? 0))
  const counted = [...parents.keys()].filter((pid) => shims.has(pid) || isOurs(pid))
  if (counted.length < names.length * 2) throw new Error('the processes of the containers are not on this machine')
  return counted.reduce((sum, pid) => sum + proportionalBytes(pid), 0)
}

function parentsOfAll(): ReadonlyMap<number, number> {
  const pids = readdirSync('/proc').map(Number).filter(Number.isInteger)
  return new Map(pids.flatMap((pid) => (parentOf(pid) === undefined ? [] : [[pid, parentOf(pid) ?? 0] as const])))
}

/** @returns undefined for a process that has ended */
function parentOf(pid: number): number | undefined {
  const parent = /^PPid:\s+(\d+)/m.exec(read(`/proc/${pid}/status`))?.[1]
  return parent === undefined ? undefined : Number(parent)
}

function proportionalBytes(pid: number): number {
  const kibibytes = /^Pss:\s+(\d+) kB/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1]
  return Number(kibibytes ?? 0) * 1024
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
