import { metrics } from '../../common/metrics.js'
import type { DockerBackend } from '../../sandbox/docker/index.js'
import { type Sampler, startSampler } from './sampler.js'

/** Containers in one sample: each costs the daemon a few milliseconds. */
const maxSampled = 50

interface UsageSamplerOptions {
  readonly docker: Pick<DockerBackend, 'sampleUsage'>
  /** Owner label of the sandboxes of this namespace. */
  readonly owner: string
}

/** Samples what the sandboxes of this namespace use. A daemon that does not answer is reported by readiness. */
export function startUsageSampler({ docker, owner }: UsageSamplerOptions): Sampler {
  let cpuBefore = new Map<string, number>()
  let states = new Set<string>()
  const sample = async (): Promise<void> => {
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
      metrics.add('ptc_sandbox_cpu_milliseconds_total', cpuMs - (cpuBefore.get(containerId) ?? 0), {})
    }
    cpuBefore = new Map(usage.sampled.map(({ containerId, cpuMs }) => [containerId, cpuMs]))
  }
  return startSampler(sample)
}
