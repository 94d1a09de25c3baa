import { randomUUID } from 'node:crypto'
import { benchmark } from './support/benchmark.js'
import { type Execution, executionsOf, eventsOf } from './support/executions.js'
import { type ResultRow, summarize } from './support/measure.js'
import { sampleMemory } from './support/memory.js'
import { startStack } from './support/stack.js'
import { startUnparsedModel } from './support/unparsed-model.js'

// Runs one agent with very many turns, each with a cell and a call, and compares the last with the first. `--calls 100`
// makes 500.
await benchmark('turns', async (context) => {
  const { progress } = context
  const turns = context.calls * 5
  const baseURL = await startUnparsedModel(context, turns, 'print(await ping(value=1))')
  const { client, taskQueue } = await startStack(context, {
    roles: ['workflow', 'model', 'tools', 'sandbox'],
    modelApi: { baseURL, apiKey: 'not-used' },
  })
  progress(`${turns} turns`)
  const memory = sampleMemory()
  const workflowId = randomUUID()
  const input = { question: 'go', limits: { turns } }
  const result = await client.workflow.execute('agent', { taskQueue, workflowId, args: [input] })
  const { peakOfFirstTenth, peak } = memory.stop()
  if ((result as { readonly answer: string }).answer !== 'done') throw new Error(`it failed: ${JSON.stringify(result)}`)
  const executions = await executionsOf(client, workflowId)
  progress(`${executions.length} histories`)
  const starts = executions.flatMap(turnStarts)
  const gaps = starts.slice(1).map((start, index) => start - (starts[index] ?? start))
  const tenth = Math.floor(turns / 10)
  const [first, last] = [gaps.slice(0, tenth), gaps.slice(-tenth)]
  const [begin, end] = [executions[0], executions.at(-2) ?? executions[0]]
  const bytes = (one: Execution | undefined): number => (one ? one.bytes / turnStarts(one).length : Number.NaN)
  const events = (one: Execution | undefined): number => (one ? one.events.length / turnStarts(one).length : Number.NaN)
  const rows: ResultRow[] = [
    { name: `a turn, first ${tenth}`, unit: 'ms', samples: first },
    { name: `a turn, last ${tenth}`, unit: 'ms', samples: last },
    {
      name: 'time: last / first',
      unit: 'x',
      samples: [summarize(last).median / summarize(first).median],
      target: 1.05,
    },
    { name: 'history a turn, first history', unit: 'events', samples: [events(begin)] },
    { name: 'history a turn, last whole history', unit: 'events', samples: [events(end)] },
    { name: `history a turn, first of ${executions.length} histories`, unit: 'bytes', samples: [bytes(begin)] },
    { name: 'history a turn, last whole history', unit: 'bytes', samples: [bytes(end)] },
    { name: 'history: last / first', unit: 'x', samples: [bytes(end) / bytes(begin)], target: 1.05 },
    { name: 'memory of the worker: most / after a tenth', unit: 'x', samples: [peak / peakOfFirstTenth], target: 1.5 },
  ]
  return rows
})

/** Start times of the turns of a history, in milliseconds of the server's clock. */
function turnStarts({ events }: Execution): number[] {
  return eventsOf(events, 'activityTaskScheduledEventAttributes')
    .filter(({ attributes }) => attributes.activityType?.name === 'model.turn')
    .map(({ at }) => at)
}
