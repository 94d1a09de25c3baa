import type { temporal } from '@temporalio/proto'
import { benchmark } from './support/benchmark.js'
import { type Execution, executionsOf, eventsOf } from './support/executions.js'
import { type ResultRow, summarize } from './support/measure.js'
import { sampleMemory } from './support/memory.js'
import { outputOf, startProgram } from './support/programs.js'
import { type Stack, startStack } from './support/stack.js'

type Event = temporal.api.history.v1.IHistoryEvent

const source = (calls: number): string => `
total = 0
for value in range(${calls}):
    total += await ping(value=value)
print(total)
`

// Runs one cell with very many sequential calls, and compares the cost of the last with that of the first. `--calls
// 100` makes 10,000.
await benchmark('endless', async (context) => {
  const { progress } = context
  const calls = context.calls * 100
  const stack = await startStack(context)
  await run(stack, source(100)) // warms up
  progress(`${calls} calls in one cell`)
  const memory = sampleMemory()
  const workflowId = await run(stack, source(calls), calls)
  const { peakOfFirstTenth, peak } = memory.stop()
  const executions = await executionsOf(stack.client, workflowId)
  progress(`${executions.length} histories`)
  const ends = executions.flatMap((one) => callEnds(one.events))
  if (ends.length !== calls) throw new Error(`${ends.length} calls are in the histories, not ${calls}`)
  const tenth = Math.floor(calls / 10)
  const [first, last] = [gaps(ends.slice(0, tenth)), gaps(ends.slice(-tenth))]
  const perCall = (what: string, of: (one: Execution) => number): ResultRow[] => {
    // The last history ends with the program. The one before it has full length, like the first.
    const [begin, end] = [executions[0], executions.at(-2) ?? executions[0]]
    const each = (one: Execution | undefined) => (one ? of(one) / callEnds(one.events).length : Number.NaN)
    const unit = what === 'bytes' ? 'bytes' : 'events'
    return [
      { name: `history a call, first of ${executions.length} histories`, unit, samples: [each(begin)] },
      { name: 'history a call, last whole history', unit, samples: [each(end)] },
      { name: `history ${what}: last / first`, unit: 'x', samples: [each(end) / each(begin)], target: 1.05 },
    ]
  }
  return [
    { name: `a call, first ${tenth}`, unit: 'ms', samples: first },
    { name: `a call, last ${tenth}`, unit: 'ms', samples: last },
    {
      name: 'time: last / first',
      unit: 'x',
      samples: [summarize(last).median / summarize(first).median],
      target: 1.05,
    },
    ...perCall('events', ({ events }) => events.length),
    ...perCall('bytes', ({ bytes }) => bytes),
    { name: 'memory of the worker, after a tenth', unit: 'MiB', samples: [peakOfFirstTenth] },
    { name: 'memory of the worker, at most', unit: 'MiB', samples: [peak] },
    { name: 'memory: most / after a tenth', unit: 'x', samples: [peak / peakOfFirstTenth], target: 1.5 },
  ]
})

/** @returns the id of the workflow */
async function run(stack: Stack, program: string, calls = 100): Promise<string> {
  const handle = await startProgram(stack, program, { callsPerCell: calls, callsPerRun: calls })
  const output = await outputOf(handle)
  if (output !== `${(calls * (calls - 1)) / 2}\n`) throw new Error(`the sum is wrong: ${output}`)
  return handle.workflowId
}

/** End times of the calls of a history, in milliseconds of the server's clock. */
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
  return ends.slice(1).map((end, index) => end - (ends[index] ?? end))
}
