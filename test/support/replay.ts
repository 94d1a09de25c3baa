import { type ReplayWorkerOptions, Worker } from '@temporalio/worker'
import { executionTime } from '../../src/worker/execution-time.js'

/** Fails when a history does not replay on this workflow code. */
export async function replay(options: ReplayWorkerOptions, history: unknown, workflowId: string): Promise<void> {
  await Worker.runReplayHistory({ ...options, ...executionTime }, history, workflowId)
}
