import { randomUUID } from 'node:crypto'
import { noise, timedCalls } from '../test/support/neighbours.js'
import { benchmark } from './support/benchmark.js'
import { interleaved, quantile, ratios } from './support/measure.js'
import { type Stack, startStack } from './support/stack.js'

const sessions = Number(process.env['NEIGHBOURS'] ?? 20)

/** How much longer the calls of the others may take. */
const target = 2

/** `--calls` is for a program that is alone. */
const shareOfCalls = 10

const starts = Array.from({ length: sessions })

// Many sessions at once, with and without bad neighbours: the time of a call for those that do no harm.
await benchmark('neighbours', async (context) => {
  const { runs, tell } = context
  const calls = Math.ceil(context.calls / shareOfCalls)
  const stack = await startStack(context)
  const all = async (): Promise<number[]> => (await Promise.all(starts.map(() => polite(stack, calls)))).flat()
  tell('warming up')
  await all()
  tell(`${runs} repetitions of ${sessions} sessions of ${calls} calls, with and without three bad neighbours`)
  const took = await interleaved(runs, { quiet: all, noisy: () => amidNoise(stack, all) })
  const shareOf = (samples: readonly number[][], share: number) =>
    samples.map((sample) =>
      quantile(
        sample.toSorted((one, other) => one - other),
        share,
      ),
    )
  const [quiet, noisy] = [shareOf(took.quiet, 0.95), shareOf(took.noisy, 0.95)]
  return [
    { what: 'call, quiet, p50', unit: 'ms', samples: shareOf(took.quiet, 0.5) },
    { what: 'call, quiet, p95', unit: 'ms', samples: quiet },
    { what: 'call, among noise, p50', unit: 'ms', samples: shareOf(took.noisy, 0.5) },
    { what: 'call, among noise, p95', unit: 'ms', samples: noisy },
    { what: 'p95: noise / quiet', unit: 'x', samples: ratios(noisy, quiet), target },
  ]
})

async function amidNoise<Result>(stack: Stack, work: () => Promise<Result>): Promise<Result> {
  const neighbours = await Promise.all(Object.values(noise).map((source) => start(stack, source)))
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

async function polite(stack: Stack, calls: number): Promise<number[]> {
  const handle = await start(stack, timedCalls('ping', calls))
  const { outcome } = (await handle.result()) as {
    readonly outcome: { readonly status: string; readonly output: string }
  }
  if (outcome.status !== 'ok') throw new Error(`a measured program failed: ${JSON.stringify(outcome)}`)
  return JSON.parse(outcome.output) as number[]
}

/** The limit on a cell's own time is the longest that noise may last. */
function start({ client, taskQueue }: Stack, source: string) {
  const args = [{ source, limits: { cellSeconds: 600 } }]
  return client.workflow.start('program', { taskQueue, workflowId: randomUUID(), args })
}
