import { containerName } from '../dist/sandbox/docker/container/sandbox-identity.js'
import { benchmark } from './support/benchmark.js'
import { containerMemory } from './support/container-memory.js'
import { type RawContainer, startRawContainer } from './support/raw-container.js'
import { type BenchSession, namespace, openSession, createDocker, runCell, createHost } from './support/sandboxes.js'

const sessionsAtOnce = 20
const concurrency = 4

// Measures how many sessions a host opens per second, and the memory of an idle session next to that of a container
// with a Python that has imported no module. Without Temporal.
await benchmark('capacity', async (context) => {
  const { runs, progress, defer } = context
  const backend = await createDocker(context)
  const host = await createHost(backend, context)
  const made: number[] = []
  const memory: number[] = []
  const sessions = new Set<BenchSession>()
  const closeAll = async (): Promise<void> => {
    await Promise.all([...sessions].map((session) => session.close()))
    sessions.clear()
  }
  defer(closeAll)
  const open = async (): Promise<void> => {
    const session = await openSession(host, 'docker')
    sessions.add(session)
    await runCell(session, 'pass')
  }
  progress(`${runs} repetitions of ${sessionsAtOnce} sessions, ${concurrency} at a time`)
  for (let run = 0; run <= runs; run += 1) {
    const start = performance.now()
    for (let left = sessionsAtOnce; left > 0; left -= concurrency) {
      await Promise.all(Array.from({ length: Math.min(concurrency, left) }, open))
    }
    const perSecond = (sessionsAtOnce * 1_000) / (performance.now() - start)
    const names = [...sessions].map(({ ref, workflowId }) =>
      containerName({ namespace, session: ref.id, epoch: ref.epoch, workflowId }),
    )
    const total = await containerMemory(names)
    await closeAll()
    // The first repetition warms up.
    if (run === 0) continue
    made.push(perSecond)
    memory.push(total / names.length / 2 ** 20)
  }
  progress(`the memory of ${sessionsAtOnce} raw containers`)
  const raw: RawContainer[] = []
  defer(() => Promise.all(raw.map((container) => container.remove())))
  while (raw.length < sessionsAtOnce) raw.push(await startRawContainer(backend.image, ['-S']))
  const rawMemory = (await containerMemory(raw.map(({ name }) => name))) / raw.length / 2 ** 20
  return [
    { name: `sessions made, ${concurrency} at a time, first cell done`, unit: '/s', samples: made },
    { name: `memory of a raw container with \`python3 -S\`, of ${sessionsAtOnce}`, unit: 'MiB', samples: [rawMemory] },
    { name: `memory of an idle session, of ${sessionsAtOnce}`, unit: 'MiB', samples: memory, target: 10 },
  ]
})
