import { noisyPrograms, timedCallsProgram } from '../test/support/faults/noisy-neighbours.js'
import { benchmark } from './support/benchmark.js'
import { interleaved, quantile, ratios } from './support/measure.js'
import { outputOf, startProgram } from './support/programs.js'
import { type Stack, startStack } from './support/stack.js'

const sessions = Number(process.env['NEIGHBOURS'] ?? 20)

/** Maximum slowdown of the other sessions' calls. */
const maxSlowdown = 2

/** Fewer than `--calls`, which is meant for a single program. */
const shareOfCalls = 10

/** The CPU limit of a cell bounds the duration of the noise. */
const limits = { cellSeconds: 600 }

const starts = Array.from({ length: sessions })

// Runs many parallel sessions with and without noisy neighbours, and measures the call time of the quiet sessions.
await benchmark('neighbours', async (context) => {
  const { runs, progress } = context
  const calls = Math.ceil(context.calls / shareOfCalls)
  const stack = await startStack(context)
  const all = async (): Promise<number[]> => (await Promise.all(starts.map(() => measuredCalls(stack, calls)))).flat()
  progress('warming up')
  await all()
  progress(`${runs} repetitions of ${sessions} sessions of ${calls} calls, with and without three bad neighbours`)
  const took = await interleaved(runs, { quiet: all, noisy: () => withNoisyNeighbours(stack, all) })
  const shareOf = (samples: readonly number[][], share: number) =>
    samples.map((sample) =>
      quantile(
        sample.toSorted((one, other) => one - other),
        share,
      ),
    )
  const [quiet, noisy] = [shareOf(took.quiet, 0.95), shareOf(took.noisy, 0.95)]
  return [
    { name: 'call, quiet, p50', unit: 'ms', samples: shareOf(took.quiet, 0.5) },
    { name: 'call, quiet, p95', unit: 'ms', samples: quiet },
    { name: 'call, among noise, p50', unit: 'ms', samples: shareOf(took.noisy, 0.5) },
    { name: 'call, among noise, p95', unit: 'ms', samples: noisy },
    { name: 'p95: noise / quiet', unit: 'x', samples: ratios(noisy, quiet), target: maxSlowdown },
  ]
})

async function withNoisyNeighbours<Result>(stack: Stack, work: () => Promise<Result>): Promise<Result> {
  const neighbours = await Promise.all(
    Object.values(noisyPrograms).map((source) => startProgram(stack, source, limits)),
  )
  try {
    const result = await work()
    for (const neighbour of neighbours) {
      const { status } = await neighbour.describe()
      if (status.name !== 'RUNNING') throw new Error(`a bad neighbour was ${status.name}: there was no noise`)
    }
    return result
  } finally {
    for (const neighbour of neighbours) {
      await neighbour.cancel()
      await neighbour.result().catch(() => undefined)
    }
  }
}

async function measuredCalls(stack: Stack, calls: number): Promise<number[]> {
  const output = await outputOf(await startProgram(stack, timedCallsProgram('ping', calls), limits))
  return JSON.parse(output) as number[]
}
