import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { defaultLimits } from '../dist/common/run/limits.js'
import { benchmark } from './support/benchmark.js'
import { measureHistory } from './support/history.js'
import { interleaved, ratios } from './support/measure.js'
import { bareQueue, startStack } from './support/stack.js'

/** A session with other limits can't use the pool's containers. */
const unusual = { memoryBytes: defaultLimits.memoryBytes - (1 << 20) }

// Compares the activity `session.open`, from the warm pool and cold, with an empty activity: from scheduled to
// completed.
await benchmark('open', async (context) => {
  const { runs, progress, signal } = context
  const { client, taskQueue } = await startStack(context, { warm: 1 })

  const finish = async (workflow: string, queue: string, argument: unknown, activity?: string): Promise<number> => {
    // After this pause the pool is full again and the previous container is removed.
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
  progress(`${runs} repetitions of an activity that does nothing, and of opening a session, warm and cold`)
  const { bare, warm, cold } = await interleaved(runs, work)
  return [
    { name: 'bare activity', unit: 'ms', samples: bare },
    { name: 'session.open, from the warm pool', unit: 'ms', samples: warm },
    { name: 'session.open, cold', unit: 'ms', samples: cold },
    { name: 'session.open: warm / bare', unit: 'x', samples: ratios(warm, bare), target: 1.5 },
    { name: 'session.open: cold / bare', unit: 'x', samples: ratios(cold, bare) },
  ]
})
