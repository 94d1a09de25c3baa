import { NativeConnection } from '@temporalio/worker'
import { expect } from 'vitest'
import { createDockerBackend } from '../../../src/sandbox/docker/index.js'
import { SessionHost } from '../../../src/sandbox/session/session-host.js'
import { isWorkflowRunning, sandboxOwner } from '../../../src/worker/resources/sandbox-owner.js'
import { reap } from '../../../src/worker/resources/reaper.js'
import type { RunInState } from './run-states.js'
import { sharedServer } from '../temporal/shared-server.js'

/** Waits for the cancellation of running tools, stops the worker, runs the reaper once, and expects a clean end. */
export async function expectReaped({ env, handle, toolAborted, release }: RunInState): Promise<void> {
  release?.()
  await toolAborted
  await env.workers.stop() // so that no activity runs
  await runReaper()
  // The reaper of another test's worker may be removing the container. Then this reaper leaves it to the other.
  await expect.poll(() => env.containers(handle), { timeout: 10_000 }).toEqual([])
  await env.expectCleanEnd(handle)
}

/** One round of the reaper, like that of another process on the same host that owns no sandbox. */
async function runReaper(): Promise<void> {
  const { address, namespace } = sharedServer()
  const connection = await NativeConnection.connect({ address })
  const docker = createDockerBackend()
  try {
    const owner = await sandboxOwner(connection, namespace)
    const lines: string[] = []
    await reap({
      docker,
      host: new SessionHost({ namespace: owner, backends: [docker], tools: [] }),
      owner,
      isRunning: (workflowId) => isWorkflowRunning(connection, namespace, workflowId),
      onProgress: (line) => lines.push(line),
    })
    expect(lines.filter((line) => line.includes('could not'))).toEqual([])
  } finally {
    await docker.close()
    await connection.close()
  }
}
