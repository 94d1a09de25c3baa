import { randomUUID } from 'node:crypto'
import { benchmark } from './support/benchmark.js'
import { type HistoryMeasurement, measureHistory } from './support/history.js'
import { interleaved, ratios, type ResultRow } from './support/measure.js'
import { measureProgram } from './support/programs.js'
import { bareQueue, type Stack, startStack } from './support/stack.js'

type ToolName = 'ping' | 'look' | 'mark' | 'mark_once' | 'ping_singly'

const sequential = (tool: ToolName, calls: number): string =>
  `for value in range(${calls}):\n    await ${tool}(value=value)`

const parallel = (tool: ToolName, calls: number): string =>
  `import asyncio\nawait asyncio.gather(*(${tool}(value=value) for value in range(${calls})))`

/** Targets of the parts of a call that have one. */
interface Targets {
  readonly milliseconds?: number
  readonly events?: number
  readonly bytes?: number
}

// Compares calls from code with bare activities of the same process, and also a local read and a tool with a limit:
// time, history events and history bytes per call.
await benchmark('calls', async (context) => {
  const { runs, calls, progress } = context
  const stack = await startStack(context)
  const work = {
    bareSequential: (count: number) => bare(stack, 'bareSequential', count),
    codeSequential: (count: number) => measureProgram(stack, sequential('ping', count)),
    localSequential: (count: number) => measureProgram(stack, sequential('look', count)),
    effectSequential: (count: number) => measureProgram(stack, sequential('mark', count)),
    onceSequential: (count: number) => measureProgram(stack, sequential('mark_once', count)),
    bareParallel: (count: number) => bare(stack, 'bareParallel', count),
    codeParallel: (count: number) => measureProgram(stack, parallel('ping', count)),
    effectParallel: (count: number) => measureProgram(stack, parallel('mark', count)),
    limitedSequential: (count: number) => measureProgram(stack, sequential('ping_singly', count)),
    limitedParallel: (count: number) => measureProgram(stack, parallel('ping_singly', count)),
  }
  progress('warming up')
  await interleaved(
    2,
    mapValues(work, (run) => () => run(10)),
  )
  const empty = await interleaved(
    1,
    mapValues(work, (run) => () => run(0)),
  )
  progress(`${runs} repetitions of ${calls} calls, sequential and parallel, bare and from code`)
  const full = await interleaved(
    runs,
    mapValues(work, (run) => () => run(calls)),
  )

  const rows = (name: keyof typeof work, what: string, targets: Targets = {}): ResultRow[] => {
    const [base] = empty[name]
    const row = (part: string, unit: 'ms' | 'events' | 'bytes', samples: number[], target?: number): ResultRow => ({
      name: `${what}, ${part}`,
      unit,
      samples,
      ...(target === undefined ? {} : { target }),
    })
    const time = full[name].map(({ durationMs }) => durationMs / calls)
    const events = full[name].map((one) => (one.events - (base?.events ?? 0)) / calls)
    const bytes = full[name].map((one) => (one.bytes - (base?.bytes ?? 0)) / calls)
    return [
      row('time', 'ms', time, targets.milliseconds),
      row('history', 'events', events, targets.events),
      row('history', 'bytes', bytes, targets.bytes),
    ]
  }
  const ratio = (name: string, code: keyof typeof work, reference: keyof typeof work, target?: number): ResultRow => {
    const [samples, bareSamples] = [full[code], full[reference]].map((all) => all.map(({ durationMs }) => durationMs))
    const all = ratios(samples ?? [], bareSamples ?? [])
    return { name, unit: 'x', samples: all, ...(target === undefined ? {} : { target }) }
  }
  return [
    ...rows('bareSequential', 'bare activity, sequential'),
    ...rows('codeSequential', 'call from code, sequential', { events: 7, bytes: 1_300 }),
    ratio('sequential: code / bare', 'codeSequential', 'bareSequential', 1.15),
    ...rows('localSequential', 'local read from code, sequential', { milliseconds: 10, events: 2 }),
    ratio('sequential: local read / bare', 'localSequential', 'bareSequential', 0.35),
    ...rows('effectSequential', 'local call with an effect, sequential'),
    ratio('sequential: local effect / bare', 'effectSequential', 'bareSequential', 0.3),
    ...rows('onceSequential', 'local `once` call, sequential'),
    ratio('sequential: local `once` / bare', 'onceSequential', 'bareSequential', 0.3),
    ...rows('bareParallel', 'bare activity, parallel'),
    ...rows('codeParallel', 'call from code, parallel'),
    ratio('parallel: code / bare', 'codeParallel', 'bareParallel', 1.1),
    ...rows('effectParallel', 'local calls with an effect, parallel'),
    ratio('parallel: local effects / bare', 'effectParallel', 'bareParallel', 0.2),
    ...rows('limitedSequential', 'call of a tool with `concurrency: 1`, sequential', { events: 12 }),
    ratio('sequential: limited / not limited', 'limitedSequential', 'codeSequential', 2),
    // Calls of this tool are executed one after the other.
    ...rows('limitedParallel', 'call of a tool with `concurrency: 1`, parallel', { events: 12 }),
    ratio('parallel: limited / not limited, sequential', 'limitedParallel', 'codeSequential', 2),
  ]
})

async function bare({ client }: Stack, workflow: string, calls: number): Promise<HistoryMeasurement> {
  const options = { taskQueue: bareQueue, workflowId: randomUUID(), args: [calls] }
  const handle = await client.workflow.start(workflow, options)
  await handle.result()
  return measureHistory(handle)
}

function mapValues<Name extends string, From, To>(record: Readonly<Record<Name, From>>, change: (value: From) => To) {
  return Object.fromEntries(Object.entries<From>(record).map(([name, value]) => [name, change(value)])) as Record<
    Name,
    To
  >
}
