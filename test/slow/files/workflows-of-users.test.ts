import { fileURLToPath } from 'node:url'
import { Worker } from '@temporalio/worker'
import { expect } from 'vitest'
import { describeDocker } from '../../support/docker/describe-docker.js'
import { clientOf, connect, createPlugin, createWorker } from '../../support/environment/embedded-worker.js'
import { executionHistories } from '../../support/environment/histories.js'
import { temporalTest as test } from '../../support/temporal/shared-server.js'
import type * as blocks from '../../integration/embedding/workflows/blocks.js'

const workflowsPath = fileURLToPath(new URL('../../integration/embedding/workflows/blocks.ts', import.meta.url))

describeDocker('files in a workflow of a user', () => {
  test('an artifact of one session is an upload of another', async ({ taskQueue, workflowId }) => {
    const plugin = await createPlugin({ sandbox: { backend: 'docker', warm: 0 } })
    const connection = await connect({ plugins: [plugin] })
    const worker = await createWorker({ connection, taskQueue, workflowsPath })
    const client = clientOf(connection)
    const outcomes = await worker.runUntil(
      client.workflow.execute<typeof blocks.withFiles>('withFiles', { taskQueue, workflowId, args: [] }),
    )
    expect(outcomes).toMatchObject([
      { status: 'ok', files: [{ path: '/tmp/out/a.txt', bytes: 9, mediaType: 'text/plain' }] },
      { status: 'ok', output: 'passed on\n' },
    ])
    const [history = { events: [] }] = await executionHistories(client, { workflowId })
    await Worker.runReplayHistory({ plugins: [plugin], workflowsPath }, history, workflowId)
  })
})
