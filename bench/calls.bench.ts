import { randomUUID } from 'node:crypto'
import type { WorkflowHandle } from '@temporalio/client'
import { benchmark } from './support/benchmark.js'
import { type HistoryMeasurement, measureHistory } from './support/history.js'
import { interleaved, ratios, type ResultRow } from './support/measure.js'
import { bareQueue, type Stack, startStack } from './support/stack.js'

const sequential = (calls: number): string => `for value in range(${calls}):\n    await ping(value=value)`

const parallel = (calls: number): string =>
  `import asyncio\nawait asyncio.gather(*(ping(value=value) for value in range(${calls})))`

const targets = { sequential: 2.2, parallel: 1.2 } as const

// Compares calls from code with bare activities of the same process: time, history events and history bytes per call.
await benchmark('calls', async (context) => {
  const { runs, calls, progress } = context
  const stack = await startStack(context)
  const work = {
    bareSequential: (count: number) => bare(stack, 'bareSequential', count),
    codeSequential: (count: number) => program(stack, sequential(count)),
    bareParallel: (count: number) => bare(stack, 'bareParallel', count),
    codeParallel: (count: number) => program(stack, parallel(count)),
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

  const rows = (name: keyof typeof work, what: string): ResultRow[] => {
    const [base] = empty[name]
    return [
      { name: `${what}, time`, unit: 'ms', samples: full[name].map(({ durationMs }) => durationMs / calls) },
      {
        name: `${what}, history`,
        unit: 'events',
        samples: full[name].map(({ events }) => (events - (base?.events ?? 0)) / calls),
      },
      {
        name: `${what}, history`,
        unit: 'bytes',
        samples: full[name].map(({ bytes }) => (bytes - (base?.bytes ?? 0)) / calls),
      },
    ]
  }
  const ratio = (code: readonly HistoryMeasurement[], reference: readonly HistoryMeasurement[]): number[] =>
    ratios(
      code.map(({ durationMs }) => durationMs),
      reference.map(({ durationMs }) => durationMs),
    )
  return [
    ...rows('bareSequential', 'bare activity, sequential'),
    ...rows('codeSequential', 'call from code, sequential'),
    {
      name: 'sequential: code / bare',
      unit: 'x',
      samples: ratio(full.codeSequential, full.bareSequential),
      target: targets.sequential,
    },
    ...rows('bareParallel', 'bare activity, parallel'),
    ...rows('codeParallel', 'call from code, parallel'),
    {
      name: 'parallel: code / bare',
      unit: 'x',
      samples: ratio(full.codeParallel, full.bareParallel),
      target: targets.parallel,
    },
  ]
})

async function bare({ client }: Stack, workflow: string, calls: number): Promise<HistoryMeasurement> {
  const options = { taskQueue: bareQueue, workflowId: randomUUID(), args: [calls] }
  return finished(await client.workflow.start(workflow, options))
}

/** Measures from the first step to the end: everything but opening and closing the session. */
async function program({ client, taskQueue }: Stack, source: string): Promise<HistoryMeasurement> {
  const options = { taskQueue, workflowId: randomUUID(), args: [{ source }] }
  const handle = await client.workflow.start('program', options)
  const { outcome } = (await handle.result()) as { readonly outcome: { readonly status: string } }
  if (outcome.status !== 'ok') throw new Error(`the measured program failed: ${JSON.stringify(outcome)}`)
  return finished(handle, 'session.step')
}

async function finished(handle: WorkflowHandle, activity?: string): Promise<HistoryMeasurement> {
  await handle.result()
  return measureHistory(handle, activity)
}

function mapValues<Name extends string, From, To>(record: Readonly<Record<Name, From>>, change: (value: From) => To) {
  return Object.fromEntries(Object.entries<From>(record).map(([name, value]) => [name, change(value)])) as Record<
    Name,
    To
  >
}
