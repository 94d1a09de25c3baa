import type { ContainerStats } from 'dockerode'
import { isStopped } from './container/container-state.js'
import { listContainers, namespaceFilter } from './container/list-containers.js'
import { parseIdentity } from './container/sandbox-identity.js'
import type { DockerEngine } from './engine/docker-engine.js'

/** Maximum concurrent requests, because a daemon reads files of the kernel for each. */
const concurrency = 4

/** The current usage of the containers of a namespace. */
export interface SandboxUsage {
  /** Number of containers by their state, in Docker's terms. */
  readonly states: ReadonlyMap<string, number>
  readonly sampled: readonly ContainerUsage[]
}

export interface ContainerUsage {
  readonly containerId: string
  /** Memory without the page cache. */
  readonly memoryBytes: number
  /** Processor time since the container was started. */
  readonly cpuMs: number
}

/**
 * Samples the running containers of a namespace, at most `limit` of them.
 *
 * @throws PtcError SANDBOX_UNAVAILABLE
 */
export async function sampleUsage(engine: DockerEngine, namespace: string, limit: number): Promise<SandboxUsage> {
  const containers = (await listContainers(engine, { label: [namespaceFilter(namespace)] })).filter(
    ({ name, labels }) => parseIdentity(name, labels) !== undefined,
  )
  const states = new Map<string, number>()
  for (const { state } of containers) states.set(state, (states.get(state) ?? 0) + 1)
  const waiting = containers.filter(({ state }) => !isStopped(state) && state !== 'created').slice(0, limit)
  const sampled: ContainerUsage[] = []
  const sampleNext = async (): Promise<void> => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const usage = await readUsage(engine, next.id)
      if (usage) sampled.push(usage)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, sampleNext))
  return { states, sampled }
}

/** Returns undefined when the container has ended meanwhile. */
async function readUsage(engine: DockerEngine, containerId: string): Promise<ContainerUsage | undefined> {
  const stats = await engine.call(
    { action: `read the usage of ${containerId}`, ignoredStatuses: [404, 409] },
    (docker, abortSignal) => {
      // Without `one-shot`, the daemon takes two samples, one second apart. The types do not know `abortSignal`.
      const options = { stream: false, 'one-shot': true, abortSignal } as const
      return docker.getContainer(containerId).stats(options)
    },
  )
  return stats && toUsage(containerId, stats)
}

/** Converts the figures. A container that has just ended has none, although dockerode's types require them. */
function toUsage(containerId: string, { memory_stats: memory, cpu_stats: cpu }: Partial<ContainerStats>) {
  const total = memory?.usage
  const cpuNanoseconds = cpu?.cpu_usage?.total_usage
  if (memory === undefined || total === undefined || cpuNanoseconds === undefined) return undefined
  // The two names are those of cgroup v2 and v1.
  const pageCache = memory.stats?.inactive_file ?? memory.stats?.total_inactive_file ?? 0
  return { containerId, memoryBytes: Math.max(total - pageCache, 0), cpuMs: cpuNanoseconds / 1_000_000 }
}
