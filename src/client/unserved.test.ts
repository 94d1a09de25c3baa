import type { Client } from '@temporalio/client'
import { expect, test } from 'vitest'
import type { Description } from './history/event.js'
import { unservedQueues } from './unserved.js'

const secondsAgo = (seconds: number) => ({ seconds: Math.floor(Date.now() / 1_000) - seconds })

/** @param polledAgo seconds since the latest poll of each queue that was polled at all */
function serverWith(polledAgo: Readonly<Record<string, number>>) {
  const asked: string[] = []
  const describeTaskQueue = ({ taskQueue: { name } }: { taskQueue: { name: string } }) => {
    asked.push(name)
    const ago = polledAgo[name]
    return Promise.resolve({ pollers: ago === undefined ? [] : [{ lastAccessTime: secondsAgo(ago) }] })
  }
  const client = { workflowService: { describeTaskQueue }, options: { namespace: 'default' } } as unknown as Client
  return { client, asked }
}

const activity = (queue: string, state: number, waitedSeconds: number) => ({
  state,
  scheduledTime: secondsAgo(waitedSeconds),
  activityOptions: { taskQueue: { name: queue } },
})

const runWith = (raw: object) => ({ taskQueue: 'q', raw }) as unknown as Description

test('a queue that was not polled since a task waits there is unserved', async () => {
  const { client } = serverWith({ 'q.tools': 40 })
  const found = await unservedQueues(
    client,
    runWith({
      pendingActivities: [activity('q.tools', 1, 20), activity('q.tools', 1, 30), activity('q.host.box', 1, 10)],
      pendingWorkflowTask: { state: 1, scheduledTime: secondsAgo(60) },
    }),
  )
  expect(found).toMatchObject([
    { taskQueue: 'q', role: 'workflow', lastPolledAt: undefined },
    { taskQueue: 'q.tools', role: 'tools', lastPolledAt: expect.any(Number) },
    { taskQueue: 'q.host.box', role: undefined },
  ])
  expect(Date.now() - (found[1]?.waitingSince ?? 0)).toBeGreaterThan(28_000)
})

test('a queue that was polled since is served: its task is about to be taken', async () => {
  const { client } = serverWith({ 'q.tools': 10 })
  expect(await unservedQueues(client, runWith({ pendingActivities: [activity('q.tools', 1, 30)] }))).toEqual([])
})

test('the server is not asked about what runs, has just begun to wait, or waits for its next attempt', async () => {
  const { client, asked } = serverWith({})
  const pendingActivities = [activity('q.a', 2, 60), activity('q.b', 1, 0), activity('q.c', 1, -30)]
  const pendingWorkflowTask = { state: 2, scheduledTime: secondsAgo(60) }
  expect(await unservedQueues(client, runWith({ pendingActivities, pendingWorkflowTask }))).toEqual([])
  expect(asked).toEqual([])
})
