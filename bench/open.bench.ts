import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { defaultLimits } from '../dist/common/limits.js'
import { benchmark } from './support/benchmark.js'
import { measureHistory } from './support/history.js'
import { interleaved, ratios } from './support/measure.js'
import { bareQueue, startStack } from './support/stack.js'

/** With limits of its own a session gets no container of the pool. */
const unusual = { memoryBytes: defaultLimits.memoryBytes - (1 << 20) }

// The activity `session.open`, from the warm pool and cold, beside an activity that does nothing: from scheduled to completed.
await benchmark('open', async (context) => {
  const { runs, tell, signal } = context
  const { client, taskQueue } = await startStack(context, 1)

  const finish = async (workflow: string, queue: string, argument: unknown, activity?: string): Promise<number> => {
    // What the last one left behind is done by then: the pool is full, the container removed.
    await pause(1_000, undefined, { signal })
    const options = { taskQueue: queue, workflowId: randomUUID(), args: [argument] }
    const handle = await client.workflow.start(workflow, options)
    await handle.result()
    return (await measureHistory(handle, activity)).durationMs
  }
  const work = {
    bare: () => finish('bareSequential', bareQueue, 1),
    warm: () => finish('program', taskQueue, { source: 'pass' }, 'session.open'),
    cold: () => finish('program', taskQueue, { source: 'pass', limits: unusual }, 'session.open'),
  }
  await interleaved(2, work)
  tell(`${runs} repetitions of an activity that does nothing, and of opening a session, warm and cold`)
  const { bare, warm, cold } = await interleaved(runs, work)
  return [
    { what: 'bare activity', unit: 'ms', samples: bare },
    { what: 'session.open, from the warm pool', unit: 'ms', samples: warm },
    { what: 'session.open, cold', unit: 'ms', samples: cold },
    { what: 'session.open: warm / bare', unit: 'x', samples: ratios(warm, bare), target: 1.5 },
    { what: 'session.open: cold / bare', unit: 'x', samples: ratios(cold, bare) },
  ]
})
