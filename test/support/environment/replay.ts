import { type ReplayWorkerOptions, Worker } from '@temporalio/worker'
import { isolateTimeout } from '../../../src/worker/isolate-timeout.js'

/** Fails when a history does not replay on this workflow code. */
export async function expectReplays(options: ReplayWorkerOptions, history: unknown, workflowId: string): Promise<void> {
  await Worker.runReplayHistory({ ...options, ...isolateTimeout }, history, workflowId)
}
