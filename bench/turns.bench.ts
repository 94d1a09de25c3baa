import { randomUUID } from 'node:crypto'
import { startScriptedMessagesApi } from '../dist/testing/index.js'
import { benchmark } from './support/benchmark.js'
import { type ChainRun, chainOf, eventsOf } from './support/chain.js'
import { type Row, summarise } from './support/measure.js'
import { sampleMemory } from './support/memory.js'
import { startStack } from './support/stack.js'

// One agent of very many turns, each with a cell and a call: is the last as cheap as the first? `--calls 100` makes 500.
await benchmark('turns', async (context) => {
  const { tell, atEnd } = context
  const turns = context.calls * 5
  const code = { type: 'tool_use', name: 'execute_code', input: { code: 'print(await ping(value=1))' } } as const
  const cells = Array.from({ length: turns - 1 }, () => ({ reply: { content: [code] } }))
  const api = await startScriptedMessagesApi({
    script: [...cells, { reply: { content: [{ type: 'text', text: 'done' }] } }],
  })
  atEnd(() => api.close())
  process.env['ANTHROPIC_BASE_URL'] = api.url
  process.env['ANTHROPIC_API_KEY'] = 'scripted'
  const { client, taskQueue } = await startStack(context, 0, ['workflow', 'model', 'tools', 'sandbox'])
  tell(`${turns} turns`)
  const memory = sampleMemory()
  const workflowId = randomUUID()
  const input = { question: 'go', limits: { turns } }
  const result = await client.workflow.execute('agent', { taskQueue, workflowId, args: [input] })
  const { atFirst, atMost } = memory.stop()
  if ((result as { readonly answer: string }).answer !== 'done') throw new Error(`it failed: ${JSON.stringify(result)}`)
  const chain = await chainOf(client, workflowId)
  tell(`${chain.length} histories`)
  const starts = chain.flatMap(turnStarts)
  const gaps = starts.slice(1).map((start, place) => start - (starts[place] ?? start))
  const tenth = Math.floor(turns / 10)
  const [first, last] = [gaps.slice(0, tenth), gaps.slice(-tenth)]
  const [begin, end] = [chain[0], chain.at(-2) ?? chain[0]]
  const bytes = (one: ChainRun | undefined): number => (one ? one.bytes / turnStarts(one).length : Number.NaN)
  const rows: Row[] = [
    { what: `a turn, first ${tenth}`, unit: 'ms', samples: first },
    { what: `a turn, last ${tenth}`, unit: 'ms', samples: last },
    { what: 'time: last / first', unit: 'x', samples: [summarise(last).median / summarise(first).median], target: 1.2 },
    { what: `history a turn, first of ${chain.length} histories`, unit: 'bytes', samples: [bytes(begin)] },
    { what: 'history a turn, last whole history', unit: 'bytes', samples: [bytes(end)] },
    { what: 'history: last / first', unit: 'x', samples: [bytes(end) / bytes(begin)], target: 1.05 },
    { what: 'memory of the worker: most / after a tenth', unit: 'x', samples: [atMost / atFirst], target: 1.5 },
  ]
  return rows
})

/** When each turn of a history began, in milliseconds by the server's clock. */
function turnStarts({ events }: ChainRun): number[] {
  return eventsOf(events, 'activityTaskScheduledEventAttributes')
    .filter(({ attributes }) => attributes.activityType?.name === 'model.turn')
    .map(({ at }) => at)
}
