import { randomUUID } from 'node:crypto'
import type { temporal } from '@temporalio/proto'
import { benchmark } from './support/benchmark.js'
import { type ChainRun, chainOf, eventsOf } from './support/chain.js'
import { type Row, summarise } from './support/measure.js'
import { sampleMemory } from './support/memory.js'
import { type Stack, startStack } from './support/stack.js'

type Event = temporal.api.history.v1.IHistoryEvent

const source = (calls: number): string => `
total = 0
for value in range(${calls}):
    total += await ping(value=value)
print(total)
`

// One cell with very many calls, one after the other: is the last as cheap as the first? `--calls 100` makes 10,000.
await benchmark('endless', async (context) => {
  const { tell } = context
  const calls = context.calls * 100
  const stack = await startStack(context)
  await run(stack, source(100)) // warm
  tell(`${calls} calls in one cell`)
  const memory = sampleMemory()
  const workflowId = await run(stack, source(calls), calls)
  const { atFirst, atMost } = memory.stop()
  const chain = await chainOf(stack.client, workflowId)
  tell(`${chain.length} histories`)
  const ends = chain.flatMap((one) => callEnds(one.events))
  if (ends.length !== calls) throw new Error(`${ends.length} calls are in the histories, not ${calls}`)
  const tenth = Math.floor(calls / 10)
  const [first, last] = [gaps(ends.slice(0, tenth)), gaps(ends.slice(-tenth))]
  const perCall = (what: string, of: (one: ChainRun) => number): Row[] => {
    // The last history ends whenever the program does; the one before it is full, as the first is.
    const [begin, end] = [chain[0], chain.at(-2) ?? chain[0]]
    const each = (one: ChainRun | undefined) => (one ? of(one) / callEnds(one.events).length : Number.NaN)
    const unit = what === 'bytes' ? 'bytes' : 'events'
    return [
      { what: `history a call, first of ${chain.length} histories`, unit, samples: [each(begin)] },
      { what: 'history a call, last whole history', unit, samples: [each(end)] },
      { what: `history ${what}: last / first`, unit: 'x', samples: [each(end) / each(begin)], target: 1.05 },
    ]
  }
  return [
    { what: `a call, first ${tenth}`, unit: 'ms', samples: first },
    { what: `a call, last ${tenth}`, unit: 'ms', samples: last },
    { what: 'time: last / first', unit: 'x', samples: [summarise(last).median / summarise(first).median], target: 1.1 },
    ...perCall('events', ({ events }) => events.length),
    ...perCall('bytes', ({ bytes }) => bytes),
    { what: 'memory of the worker, after a tenth', unit: 'MiB', samples: [atFirst] },
    { what: 'memory of the worker, at most', unit: 'MiB', samples: [atMost] },
    { what: 'memory: most / after a tenth', unit: 'x', samples: [atMost / atFirst], target: 1.5 },
  ]
})

async function run({ client, taskQueue }: Stack, program: string, calls = 100): Promise<string> {
  const workflowId = randomUUID()
  const limits = { callsPerCell: calls, callsPerRun: calls }
  const result = await client.workflow.execute('program', {
    taskQueue,
    workflowId,
    args: [{ source: program, limits }],
  })
  const { outcome } = result as { readonly outcome: { readonly status: string; readonly output: string } }
  const expected = `${(calls * (calls - 1)) / 2}\n`
  if (outcome.status !== 'ok' || outcome.output !== expected) throw new Error(`it failed: ${JSON.stringify(outcome)}`)
  return workflowId
}

/** When each call of a history ended, in milliseconds by the server's clock. */
function callEnds(events: readonly Event[]): number[] {
  const calls = new Set(
    eventsOf(events, 'activityTaskScheduledEventAttributes')
      .filter(({ attributes }) => attributes.activityType?.name === 'ping')
      .map(({ id }) => id),
  )
  return eventsOf(events, 'activityTaskCompletedEventAttributes')
    .filter(({ attributes }) => calls.has(String(attributes.scheduledEventId)))
    .map(({ at }) => at)
}

function gaps(ends: readonly number[]): number[] {
  return ends.slice(1).map((end, place) => end - (ends[place] ?? end))
}
