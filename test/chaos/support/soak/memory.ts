import { descendsFrom, parentsOfAll, proportionalBytes } from '../../../../bench/support/process-memory.js'
import { type Fleet, workersOf } from './fleet.js'

/** Memory in bytes at a time: sums over processes, with shared pages divided among them (PSS). */
export interface MemorySample {
  /** Milliseconds since 1970. */
  readonly at: number
  readonly parts: Readonly<Record<string, number>>
  readonly largestWorker: number
}

const intervalMs = 4_000

/** Samples the memory of the parts of a fleet until stopped. */
export class MemorySampler {
  readonly #samples: MemorySample[] = []
  readonly #timer: NodeJS.Timeout

  constructor(fleet: Fleet) {
    this.#timer = setInterval(() => this.#samples.push(sampleOf(fleet)), intervalMs)
  }

  stop(): readonly MemorySample[] {
    clearInterval(this.#timer)
    return this.#samples
  }
}

function sampleOf(fleet: Fleet): MemorySample {
  const { server, redis, hosts, workers } = fleet
  const roots: Readonly<Record<string, readonly (number | undefined)[]>> = {
    workers: workers.map(({ current }) => current?.pid),
    'workers of sandboxes': hosts.map(({ worker }) => worker.current?.pid),
    'Docker and sandboxes': hosts.map(({ machine }) => machine.daemon.pid),
    Temporal: [server.pid],
    PostgreSQL: [server.database.pid],
    Redis: [redis.pid],
  }
  const parents = parentsOfAll()
  const pids = [...parents.keys()]
  const parts = Object.entries(roots).map(([name, all]) => {
    const running = all.filter((pid) => pid !== undefined)
    const ofPart = pids.filter((pid) => descendsFrom(pid, running, parents))
    return [name, ofPart.reduce((sum, pid) => sum + proportionalBytes(pid), 0)] as const
  })
  const ofWorkers = workersOf(fleet).flatMap(({ current }) => (current?.pid ? [proportionalBytes(current.pid)] : []))
  return { at: Date.now(), parts: Object.fromEntries(parts), largestWorker: Math.max(0, ...ofWorkers) }
}
