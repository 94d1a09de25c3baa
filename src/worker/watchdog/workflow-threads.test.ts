import { Worker as Thread } from 'node:worker_threads'
import threadedVm from '@temporalio/worker/lib/workflow/threaded-vm.js'
import { afterEach, expect, test, vi } from 'vitest'
import { type ThreadClient, watchThread, watchWorkflowThreads, workflowLimitMs } from './workflow-threads.js'

const { ThreadedVMWorkflowCreator, WorkerThreadClient } = threadedVm

type CreatorOptions = Parameters<typeof ThreadedVMWorkflowCreator.create>[0]

const logger = { log: vi.fn(), trace: vi.fn(), debug: vi.fn(), info: vi.fn(), warn: vi.fn(), error: vi.fn() }

const threads: Thread[] = []

afterEach(async () => {
  vi.useRealTimers()
  await Promise.all(threads.splice(0).map((thread) => thread.terminate()))
})

/** The SDK's client of a thread that answers requests of the type `quick`, and runs for ever with another one. */
function startClient(): ThreadClient {
  const code = `
    const { parentPort } = require('node:worker_threads')
    parentPort.on('message', ({ requestId, input }) => {
      while (input.type !== 'quick') {}
      parentPort.postMessage({ requestId, result: { type: 'ok' } })
    })`
  const thread = new Thread(code, { eval: true })
  threads.push(thread)
  return new WorkerThreadClient(thread, logger) as unknown as ThreadClient
}

test('ends a thread whose workflow code runs longer than the limit, and fails its requests', async () => {
  const client = startClient()
  await client.send({ type: 'quick' }) // starting the thread takes longer than the limit
  watchThread(client, 50)
  await expect(client.send({ type: 'endless' })).rejects.toThrow('ran for 0.05 seconds without a pause')
})

test('keeps a thread without requests', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const client = startClient()
  watchThread(client, 5_000)
  await client.send({ type: 'quick' })
  vi.advanceTimersByTime(60_000)
  await expect(client.send({ type: 'quick' })).resolves.toBeUndefined()
})

test('gives Node no limit for workers of durable-ptc, and leaves other workers alone', async () => {
  watchWorkflowThreads()
  const send = vi.spyOn(WorkerThreadClient.prototype, 'send').mockResolvedValue(undefined)
  const options: Omit<CreatorOptions, 'isolateExecutionTimeoutMs'> = {
    workflowBundle: { code: '', sourceMap: {} as never, filename: 'none.js' },
    threadPoolSize: 1,
    reuseV8Context: true,
    registeredActivityNames: new Set(),
    logger,
  }
  for (const isolateExecutionTimeoutMs of [workflowLimitMs, 5_000]) {
    const creator = await ThreadedVMWorkflowCreator.create({ ...options, isolateExecutionTimeoutMs })
    threads.push(
      ...(creator as unknown as { workerThreadClients: ThreadClient[] }).workerThreadClients.map(
        (client) => client.workerThread,
      ),
    )
  }
  const limits = send.mock.calls.map(([input]) => (input as Partial<CreatorOptions>).isolateExecutionTimeoutMs)
  send.mockRestore()
  expect(limits).toEqual([undefined, 5_000])
})
