import { randomUUID } from 'node:crypto'
import { benchmark } from './support/benchmark.js'
import { startDbos } from './support/dbos.js'
import { measureHistory } from './support/history.js'
import { interleaved, ratios, type ResultRow } from './support/measure.js'
import { measureProgram } from './support/programs.js'
import { bareQueue, startStack } from './support/stack.js'

const calls = 20

type ToolName = 'work' | 'query' | 'save'

const source = (tool: ToolName): string => `for _ in range(${calls}):\n    await ${tool}()`

interface Durations {
  /** Milliseconds of the calls. */
  readonly callsMs: number
  /** Milliseconds from the start of the run to its result, including its session. */
  readonly runMs: number
}

// Runs the same program, 20 sequential calls of 20 ms, with this package, with DBOS Transact and PostgreSQL, and as
// bare activities.
await benchmark('dbos', async (context) => {
  const { runs, progress } = context
  const stack = await startStack(context)
  const dbos = await startDbos(context)
  const program = async (tool: ToolName): Promise<Durations> => {
    const start = performance.now()
    const { durationMs } = await measureProgram(stack, source(tool))
    return { callsMs: durationMs, runMs: performance.now() - start }
  }
  const bare = async (): Promise<Durations> => {
    const options = { taskQueue: bareQueue, workflowId: randomUUID(), args: [calls] }
    const start = performance.now()
    const handle = await stack.client.workflow.start('bareWork', options)
    await handle.result()
    const runMs = performance.now() - start
    return { callsMs: (await measureHistory(handle)).durationMs, runMs }
  }
  const work = {
    dbos: async (): Promise<Durations> => {
      const runMs = await dbos.run()
      return { callsMs: runMs, runMs }
    },
    code: () => program('work'),
    local: () => program('query'),
    effects: () => program('save'),
    bare,
  }
  await interleaved(2, work)
  progress(`${runs} repetitions of ${calls} calls, ours and DBOS Transact ${dbos.version}`)
  const samples = await interleaved(runs, work)

  const of = (name: keyof typeof work, part: keyof Durations): number[] => samples[name].map((one) => one[part])
  const rows = (name: keyof typeof work, what: string, part: keyof Durations, target?: number): ResultRow[] => [
    { name: what, unit: 'ms', samples: of(name, part) },
    {
      name: `${what} / DBOS`,
      unit: 'x',
      samples: ratios(of(name, part), of('dbos', part)),
      ...(target === undefined ? {} : { target }),
    },
  ]
  return [
    { name: `DBOS Transact with PostgreSQL, ${calls} steps`, unit: 'ms', samples: of('dbos', 'callsMs') },
    ...rows('code', `program, ${calls} calls`, 'callsMs', 1.1),
    ...rows('local', `program, ${calls} local reads`, 'callsMs'),
    ...rows('effects', `program, ${calls} local calls with effects`, 'callsMs', 1.1),
    ...rows('bare', `${calls} bare activities`, 'callsMs'),
    ...rows('code', 'program with its session, until its result', 'runMs'),
  ]
})
