import { fileURLToPath } from 'node:url'
import type { WorkflowHandle } from '@temporalio/client'
import { NativeConnection, Worker } from '@temporalio/worker'
import { expect, onTestFinished } from 'vitest'
import { pollOptions } from '../poll-options.js'
import type { TestEnvironment } from '../environment/test-environment.js'
import { sharedServer } from './shared-server.js'

const workflowsPath = fileURLToPath(new URL('../../fixtures/incompatible-workflows.ts', import.meta.url))

/** Runs whose histories were begun by other code, and that today's worker can't replay; of about so many events. */
export async function startNondeterministicRuns(
  env: TestEnvironment,
  lengths: readonly number[],
): Promise<WorkflowHandle[]> {
  await env.stopWorkers()
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
    for (const [place, handle] of handles.entries()) {
      const length = async () => (await handle.describe()).historyLength
      await expect.poll(length, pollOptions).toBeGreaterThan(Math.max(lengths[place] ?? 0, 4))
    }
  })
  // Wakes them: a run that nothing happens to is not replayed, and poisons nothing.
  await env.startWorker()
  for (const handle of handles) await handle.signal('wake')
  return handles
}

/** How often the server has tried the task under way. */
export async function workflowTaskAttempts(handle: WorkflowHandle): Promise<number> {
  return (await handle.describe()).raw.pendingWorkflowTask?.attempt ?? 0
}
