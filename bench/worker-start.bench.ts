import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { benchmark } from './support/benchmark.js'
import { interleaved, ratios } from './support/measure.js'
import { configFile, type Stack, startServer } from './support/stack.js'

const file = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url))

const startMs = 60_000

// Time from the start of a worker process until the server sees its first poll for workflows.
await benchmark('worker-start', async (context) => {
  const { runs, progress } = context
  const stack = await startServer(context)
  const { address, namespace } = stack.server
  const small = (way: string) => () =>
    untilPolling(stack, way, [file('support/workflow-worker.mjs'), way, address, namespace, way])
  const cli = [file('../dist/cli/main.js'), 'worker', '--config', configFile, '--log-level', 'ERROR']
  const work = {
    prebuilt: small('prebuilt'),
    bundling: small('bundling'),
    whole: () => untilPolling(stack, stack.taskQueue, [...cli, '--roles', 'workflow,tools,sandbox']),
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

/** @throws Error when the process ends first, or does not poll within a minute */
async function untilPolling(stack: Stack, queue: string, argv: readonly string[]): Promise<number> {
  const { address, namespace } = stack.server
  const start = performance.now()
  const child = spawn(process.execPath, argv, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: namespace, ANTHROPIC_API_KEY: 'not-used' },
  })
  const exit = once(child, 'exit')
  let said = ''
  child.stderr.on('data', (text) => (said += String(text)))
  try {
    while (!(await polls(stack, queue, child.pid))) {
      if (child.exitCode !== null) throw new Error(`the worker ended with exit code ${child.exitCode}:\n${said}`)
      if (performance.now() - start > startMs) throw new Error('the worker polls nothing after a minute')
      await pause(5)
    }
    return performance.now() - start
  } finally {
    child.kill('SIGKILL')
    await exit
  }
}

/** Requests the pollers of the workflow task queue, which is the API's default type. */
async function polls({ client, server }: Stack, queue: string, pid: number | undefined): Promise<boolean> {
  const { pollers } = await client.workflowService.describeTaskQueue({
    namespace: server.namespace,
    taskQueue: { name: queue },
  })
  return (pollers ?? []).some(({ identity }) => identity?.startsWith(`${pid}@`))
}
