import type { Client } from '@temporalio/client'
import { expect, test } from 'vitest'
import { requireWorkers } from './pollers.js'

/** A server that knows of a worker from the n-th question on, which polled so many seconds ago. */
function serverThatKnowsAfter(questions: number, polledAgo = 0) {
  let asked = 0
  const describeTaskQueue = () => {
    asked += 1
    const lastAccessTime = { seconds: Date.now() / 1_000 - polledAgo }
    return Promise.resolve({ pollers: asked > questions ? [{ lastAccessTime }] : [] })
  }
  return { workflowService: { describeTaskQueue }, options: { namespace: 'default' } } as unknown as Client
}

test('a worker that has just begun is waited for', async () => {
  await expect(requireWorkers(serverThatKnowsAfter(1), 'queue', ['workflow'])).resolves.toBeUndefined()
})

test('one that does not come is missing, within seconds', async () => {
  await expect(requireWorkers(serverThatKnowsAfter(1_000), 'queue', ['workflow'])).rejects.toMatchObject({
    code: 'WORKER_MISSING',
    message: 'no worker is running on task queue queue (no poll for minutes)',
  })
})

test('of one that has gone, the time of its latest poll is told', async () => {
  await expect(requireWorkers(serverThatKnowsAfter(0, 120), 'queue', ['workflow', 'tools'])).rejects.toMatchObject({
    message: expect.stringMatching(/^no worker is running on task queue queue \(last poll 2m.* ago\)$/),
  })
})
