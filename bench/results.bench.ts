import { benchmark } from './support/benchmark.js'
import { executionsOf } from './support/executions.js'
import type { ResultRow } from './support/measure.js'
import { sampleMemory } from './support/memory.js'
import { outputOf, startProgram } from './support/programs.js'
import { type Stack, startStack } from './support/stack.js'

const sizes = [1_000, 1_000_000] as const

// Measures a thousand sequential results of a kilobyte and of a megabyte: their cost in worker memory and history.
// `--calls 100` makes 1,000.
await benchmark('results', async (context) => {
  const { progress } = context
  const count = context.calls * 10
  const stack = await startStack(context)
  await run(stack, 10, 1_000)
  const rows: ResultRow[] = []
  const bytes: number[] = []
  for (const size of sizes) {
    progress(`${count} results of ${size} bytes`)
    const memory = sampleMemory()
    const start = performance.now()
    const workflowId = await run(stack, count, size)
    const each = (performance.now() - start) / count
    const { peakOfFirstTenth, peak } = memory.stop()
    const executions = await executionsOf(stack.client, workflowId)
    const history = executions.reduce((sum, one) => sum + one.bytes, 0) / count
    bytes.push(history)
    rows.push(
      { name: `a result of ${size} bytes, time`, unit: 'ms', samples: [each] },
      { name: `a result of ${size} bytes, history`, unit: 'bytes', samples: [history] },
      { name: `memory of the worker, after a tenth, ${size} bytes`, unit: 'MiB', samples: [peakOfFirstTenth] },
      { name: `memory of the worker, at most, ${size} bytes`, unit: 'MiB', samples: [peak] },
      { name: 'memory: most / after a tenth', unit: 'x', samples: [peak / peakOfFirstTenth], target: 1.5 },
    )
  }
  const [small = Number.NaN, large = Number.NaN] = bytes
  return [...rows, { name: 'history: a megabyte / a kilobyte', unit: 'x', samples: [large / small], target: 1.1 }]
})

/** @returns the id of the workflow */
async function run(stack: Stack, count: number, bytes: number): Promise<string> {
  const source = `
total = 0
for number in range(${count}):
    total += len(await blob(bytes=${bytes}, number=number))
print(total)
`
  const handle = await startProgram(stack, source, { callsPerCell: count, callsPerRun: count })
  const output = await outputOf(handle)
  if (output !== `${count * bytes}\n`) throw new Error(`the sum is wrong: ${output}`)
  return handle.workflowId
}
