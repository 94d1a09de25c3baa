import Dockerode from 'dockerode'
import { descendsFrom, parentsOfAll, proportionalBytes } from './process-memory.js'

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
  const shims = new Set(mains.map((pid) => parents.get(pid) ?? 0))
  const counted = [...parents.keys()].filter((pid) => shims.has(pid) || descendsFrom(pid, mains, parents))
  if (counted.length < names.length * 2) throw new Error('the processes of the containers are not on this machine')
  return counted.reduce((sum, pid) => sum + proportionalBytes(pid), 0)
}
