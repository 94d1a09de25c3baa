import { fileURLToPath } from 'node:url'
import type { WorkflowHandle } from '@temporalio/client'
import { NativeConnection, Worker } from '@temporalio/worker'
import { expect, onTestFinished } from 'vitest'
import { patient } from './patient.js'
import type { Stack } from './stack.js'
import { testTemporal } from './temporal.js'

const workflowsPath = fileURLToPath(new URL('../fixtures/other-workflows.ts', import.meta.url))

/** Runs whose histories were begun by other code, and that today's worker can't replay; of about so many events. */
export async function poisoned(stack: Stack, lengths: readonly number[]): Promise<WorkflowHandle[]> {
  await stack.stopWorker()
  const handles: WorkflowHandle[] = []
  for (const events of lengths) handles.push(await stack.startProgram(String(events)))
  const [first] = handles
  if (!first) return handles
  const { taskQueue } = await first.describe()
  const connection = await NativeConnection.connect({ address: testTemporal().address })
  onTestFinished(() => connection.close())
  const { namespace } = testTemporal()
  const other = await Worker.create({ connection, namespace, taskQueue, workflowsPath })
  await other.runUntil(async () => {
    for (const [place, handle] of handles.entries()) {
      const length = async () => (await handle.describe()).historyLength
      await expect.poll(length, patient).toBeGreaterThan(Math.max(lengths[place] ?? 0, 4))
    }
  })
  // Wakes them: a run that nothing happens to is not replayed, and poisons nothing.
  await stack.startWorker()
  for (const handle of handles) await handle.signal('wake')
  return handles
}

/** How often the server has tried the task under way. */
export async function attempts(handle: WorkflowHandle): Promise<number> {
  return (await handle.describe()).raw.pendingWorkflowTask?.attempt ?? 0
}
