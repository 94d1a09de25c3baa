import { NativeConnection } from '@temporalio/worker'
import { expect } from 'vitest'
import { createDockerBackend } from '../../src/sandbox/docker/index.js'
import { SessionHost } from '../../src/sandbox/session-host.js'
import { isRunning, sandboxOwner } from '../../src/worker/ownership.js'
import { reap } from '../../src/worker/reaper.js'
import type { Reached } from './run-states.js'
import { testTemporal } from './temporal.js'

/** Nobody cleaned up for the run itself: what works for it is told, and one round of the reaper takes the rest. */
export async function isSweptUp({ stack, handle, told, letGo }: Reached): Promise<void> {
  letGo?.()
  await told
  await stack.stopWorker() // so that nothing is under way any more
  await reaperRound()
  await stack.leftClean(handle)
}

/** A round of another process on the same host, which holds no sandbox. */
async function reaperRound(): Promise<void> {
  const { address, namespace } = testTemporal()
  const connection = await NativeConnection.connect({ address })
  const docker = createDockerBackend()
  try {
    const owner = await sandboxOwner(connection, namespace)
    const lines: string[] = []
    await reap({
      docker,
      host: new SessionHost({ namespace: owner, backends: [docker], tools: [] }),
      owner,
      isRunning: (workflowId) => isRunning(connection, namespace, workflowId),
      onProgress: (line) => lines.push(line),
    })
    expect(lines.filter((line) => line.includes('could not'))).toEqual([])
  } finally {
    await docker.close()
    await connection.close()
  }
}
