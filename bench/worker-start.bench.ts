import { benchmark } from './support/benchmark.js'
import { interleaved, ratios, timeMs } from './support/measure.js'
import { configFile, startServer } from './support/stack.js'
import { startPtcWorker, startWorkflowWorker, type WorkerProcess } from './support/worker-process.js'

// Measures the time from the start of a worker process until the server receives its first poll for workflows.
await benchmark('worker-start', async (context) => {
  const { runs, progress } = context
  const stack = await startServer(context)
  const work = {
    prebuilt: () => untilPolling(() => startWorkflowWorker(stack, 'prebuilt'), 'prebuilt'),
    bundling: () => untilPolling(() => startWorkflowWorker(stack, 'bundling'), 'bundling'),
    whole: () => untilPolling(() => startPtcWorker(stack, configFile), stack.taskQueue),
  }
  progress(`${runs} repetitions of three ways to start a worker`)
  await interleaved(1, work)
  const { prebuilt, bundling, whole } = await interleaved(runs, work)
  return [
    { name: 'workflow worker, prebuilt bundle', unit: 'ms', samples: prebuilt },
    { name: 'workflow worker, bundling at its start', unit: 'ms', samples: bundling },
    { name: 'prebuilt / bundling', unit: 'x', samples: ratios(prebuilt, bundling) },
    { name: '`ptc worker` with Docker sandboxes', unit: 'ms', samples: whole },
  ]
})

async function untilPolling(start: () => WorkerProcess, taskQueue: string): Promise<number> {
  let worker: WorkerProcess | undefined
  try {
    return await timeMs(async () => {
      worker = start()
      await worker.waitUntilPolling(taskQueue)
    })
  } finally {
    await worker?.kill('SIGKILL')
  }
}
