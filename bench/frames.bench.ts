import { benchmark } from './support/benchmark.js'
import { quantile } from './support/measure.js'
import { type BenchSession, openSession, prepareDocker, startHost } from './support/sandboxes.js'

const warmUpTrips = 50

const source = 'for value in range(500):\n    await ping(value=value)'

/** Round trips of one repetition, for each call asked for: they are short, and p99 wants many. */
const tripsPerCall = 10

// One step over the Docker attach: frame out, Python goes on, makes its next call, frame back; without Temporal around it.
await benchmark('frames', async (context) => {
  const { runs, calls, tell } = context
  const host = await startHost(await prepareDocker(context), context)
  const trips = calls * tripsPerCall
  tell(`${runs} repetitions of ${trips} steps`)
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
    { what: 'frame round trip, p50', unit: 'ms', samples: at(0.5), target: 1 },
    { what: 'frame round trip, p90', unit: 'ms', samples: at(0.9) },
    { what: 'frame round trip, p99', unit: 'ms', samples: at(0.99) },
  ]
})

/** Milliseconds of each, sorted. */
async function roundTrips(session: BenchSession, trips: number): Promise<number[]> {
  const times: number[] = []
  // In several cells: one may not make so many calls as are wanted here.
  for (let cell = 1; times.length < warmUpTrips + trips; cell += 1) {
    let answer = await session.advance({ type: 'cell', cell, source })
    while (answer.type === 'suspended') {
      const results = answer.calls.map(({ index }) => ({ index, outcome: { status: 'ok' as const, value: index } }))
      const start = performance.now()
      answer = await session.advance({ type: 'results', results })
      times.push(performance.now() - start)
    }
    if (answer.type !== 'completed') throw new Error(`the measured cell did not complete: ${JSON.stringify(answer)}`)
  }
  return times.slice(warmUpTrips).sort((a, b) => a - b)
}
