import { fileURLToPath } from 'node:url'
import type { WorkflowHandle } from '@temporalio/client'
import { NativeConnection, Worker } from '@temporalio/worker'
import { expect, onTestFinished } from 'vitest'
import type { TestEnvironment } from '../environment/test-environment.js'
import type { TestWorker, WorkerPool } from '../environment/worker-pool.js'
import { sharedServer } from './shared-server.js'

const workflowsPath = fileURLToPath(new URL('../../fixtures/incompatible-workflows.ts', import.meta.url))

/** Starts runs with other workflow code, which the current worker can't replay, with about this many events each. */
export async function startNondeterministicRuns(
  env: Pick<TestEnvironment, 'startProgram'> & {
    readonly workers: Pick<WorkerPool<TestWorker, object>, 'start' | 'stop'>
  },
  lengths: readonly number[],
): Promise<WorkflowHandle[]> {
  await env.workers.stop()
  const handles: WorkflowHandle[] = []
  for (const events of lengths) handles.push(await env.startProgram(String(events)))
  const [first] = handles
  if (!first) return handles
  const { taskQueue } = await first.describe()
  const connection = await NativeConnection.connect({ address: sharedServer().address })
  onTestFinished(() => connection.close())
  const { namespace } = sharedServer()
  const other = await Worker.create({ connection, namespace, taskQueue, workflowsPath })
  await other.runUntil(async () => {
    for (const [index, handle] of handles.entries()) {
      const length = async () => (await handle.describe()).historyLength
      await expect.poll(length).toBeGreaterThan(Math.max(lengths[index] ?? 0, 4))
    }
  })
  // Wakes the runs: a run without a new event is not replayed.
  await env.workers.start()
  for (const handle of handles) await handle.signal('wake')
  return handles
}

/** The attempt of the pending workflow task. */
export async function workflowTaskAttempts(handle: WorkflowHandle): Promise<number> {
  return (await handle.describe()).raw.pendingWorkflowTask?.attempt ?? 0
}
