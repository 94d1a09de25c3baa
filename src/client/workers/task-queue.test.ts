import type { Client } from '@temporalio/client'
import { expect, test } from 'vitest'
import { requireWorkers } from './task-queue.js'

/** A server that reports a worker after this number of requests. The worker polled this number of seconds ago. */
function serverReportingAfter(requests: number, polledAgo = 0) {
  let received = 0
  const describeTaskQueue = () => {
    received += 1
    const lastAccessTime = { seconds: Date.now() / 1_000 - polledAgo }
    return Promise.resolve({ pollers: received > requests ? [{ lastAccessTime }] : [] })
  }
  return { workflowService: { describeTaskQueue }, options: { namespace: 'default' } } as unknown as Client
}

test('requireWorkers waits for a worker that has just started', async () => {
  await expect(requireWorkers(serverReportingAfter(1), 'queue', ['workflow'])).resolves.toBeUndefined()
})

test('requireWorkers fails within seconds when no worker starts', async () => {
  await expect(requireWorkers(serverReportingAfter(1_000), 'queue', ['workflow'])).rejects.toMatchObject({
    code: 'WORKER_MISSING',
    message: 'no worker is running on task queue queue (no poll in the last 5 minutes)',
  })
})

test('requireWorkers reports the latest poll of a worker that no longer runs', async () => {
  await expect(requireWorkers(serverReportingAfter(0, 120), 'queue', ['workflow', 'tools'])).rejects.toMatchObject({
    message: expect.stringMatching(/^no worker is running on task queue queue \(last poll 2m.* ago\)$/),
  })
})
