import { benchmark } from './support/benchmark.js'
import { quantile } from './support/measure.js'
import { type BenchSession, openSession, createDocker, createHost } from './support/sandboxes.js'

const warmUpTrips = 50

const source = 'for value in range(500):\n    await ping(value=value)'

/** Round trips per `--calls`: they are short, and p99 needs many. */
const tripsPerCall = 10

// Measures one step over the Docker attach: a frame out, Python continues to its next call, a frame back. Without
// Temporal.
await benchmark('frames', async (context) => {
  const { runs, calls, progress } = context
  const host = await createHost(await createDocker(context), context)
  const trips = calls * tripsPerCall
  progress(`${runs} repetitions of ${trips} steps`)
  const repetitions: number[][] = []
  for (let run = 0; run < runs; run += 1) {
    const session = await openSession(host, 'docker')
    try {
      repetitions.push(await roundTrips(session, trips))
    } finally {
      await session.close()
    }
  }
  const at = (share: number): number[] => repetitions.map((times) => quantile(times, share))
  return [
    { name: 'frame round trip, p50', unit: 'ms', samples: at(0.5), target: 1 },
    { name: 'frame round trip, p90', unit: 'ms', samples: at(0.9) },
    { name: 'frame round trip, p99', unit: 'ms', samples: at(0.99) },
  ]
})

/** Sorted round-trip times in milliseconds. */
async function roundTrips(session: BenchSession, trips: number): Promise<number[]> {
  const times: number[] = []
  // Uses several cells, because of the limit of calls per cell.
  for (let cell = 1; times.length < warmUpTrips + trips; cell += 1) {
    let result = await session.executeStep({ type: 'cell', cell, source })
    while (result.type === 'suspended') {
      const results = result.calls.map(({ index }) => ({ index, outcome: { status: 'ok' as const, value: index } }))
      const start = performance.now()
      result = await session.executeStep({ type: 'results', results })
      times.push(performance.now() - start)
    }
    if (result.type !== 'completed') throw new Error(`the measured cell did not complete: ${JSON.stringify(result)}`)
  }
  return times.slice(warmUpTrips).sort((a, b) => a - b)
}
