import { metrics } from '../../common/telemetry/metrics.js'
import type { DockerBackend } from '../../sandbox/docker/index.js'

/** Containers in one sample: each costs the daemon a few milliseconds. */
const maxSampled = 50

/**
 * Containers whose CPU time is remembered. With more than `maxSampled` containers, a container may be in few samples.
 */
const maxRemembered = 10_000

interface UsageOptions {
  readonly docker: Pick<DockerBackend, 'sampleUsage'>
  /** Owner label of the sandboxes of this namespace. */
  readonly owner: string
}

/**
 * Returns a function that samples the resource usage of the sandboxes of this namespace. Readiness reports a daemon
 * that does not answer.
 */
export function usageSampler({ docker, owner }: UsageOptions): () => Promise<void> {
  /** CPU time by container id, the latest sample last. */
  const cpuBefore = new Map<string, number>()
  let isFirst = true
  let states = new Set<string>()
  return async () => {
    const usage = await docker.sampleUsage(owner, maxSampled)
    // A gauge keeps its last value: a state without containers is 0.
    for (const state of states) if (!usage.states.has(state)) metrics.set('ptc_sandboxes', 0, { state })
    for (const [state, count] of usage.states) metrics.set('ptc_sandboxes', count, { state })
    states = new Set([...states, ...usage.states.keys()])
    const memory = usage.sampled.map(({ memoryBytes }) => memoryBytes)
    metrics.set(
      'ptc_sandbox_memory_bytes',
      memory.reduce((sum, bytes) => sum + bytes, 0),
      {},
    )
    metrics.set('ptc_sandbox_memory_max_bytes', Math.max(0, ...memory), {})
    for (const { containerId, cpuMs } of usage.sampled) {
      const before = cpuBefore.get(containerId) ?? 0
      // Another worker counted the CPU time of a container before this worker started.
      if (!isFirst) metrics.add('ptc_sandbox_cpu_milliseconds_total', Math.max(0, cpuMs - before), {})
      cpuBefore.delete(containerId)
      cpuBefore.set(containerId, cpuMs)
    }
    for (const id of [...cpuBefore.keys()].slice(0, Math.max(0, cpuBefore.size - maxRemembered))) cpuBefore.delete(id)
    isFirst = false
  }
}
