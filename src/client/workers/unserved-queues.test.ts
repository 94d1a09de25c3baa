import type { Client } from '@temporalio/client'
import { defaultDataConverter } from '@temporalio/common'
import { expect, test } from 'vitest'
import { taskQueueTypes } from '../api-enums.js'
import type { WorkflowDescription } from '../temporal/event.js'
import { findUnservedQueues } from './unserved-queues.js'

const secondsAgo = (seconds: number) => ({ seconds: Math.floor(Date.now() / 1_000) - seconds })

/** @param polledAgo seconds since the latest poll of each polled queue, by type and name */
function serverWith(polledAgo: Readonly<Record<string, number>>) {
  const requestedQueues: string[] = []
  const describeTaskQueue = (request: { taskQueue: { name: string }; taskQueueType: number }) => {
    const type = request.taskQueueType === taskQueueTypes.workflow ? 'workflow' : 'activity'
    const name = `${type} ${request.taskQueue.name}`
    requestedQueues.push(name)
    const ago = polledAgo[name]
    return Promise.resolve({ pollers: ago === undefined ? [] : [{ lastAccessTime: secondsAgo(ago) }] })
  }
  const options = { namespace: 'default', loadedDataConverter: defaultDataConverter }
  const client = { workflowService: { describeTaskQueue }, options } as unknown as Client
  return { client, requestedQueues }
}

const activity = (queue: string, state: number, waitedSeconds: number, more: object = {}) => ({
  state,
  scheduledTime: secondsAgo(waitedSeconds),
  activityOptions: { taskQueue: { name: queue } },
  ...more,
})

const runWith = (raw: object) => ({ taskQueue: 'q', raw }) as unknown as WorkflowDescription

test('a queue with a waiting task is unserved when no worker has polled it since', async () => {
  const { client } = serverWith({ 'activity q': 40 })
  const found = await findUnservedQueues(
    client,
    runWith({
      pendingActivities: [
        activity('q', 1, 20),
        activity('q', 1, 30),
        activity('q.model', 1, 15),
        activity('q.host.box.docker', 1, 10),
        activity('q.sandbox', 1, 10),
        activity('q.sandbox.docker', 1, 10),
      ],
      pendingWorkflowTask: { state: 1, scheduledTime: secondsAgo(60) },
    }),
  )
  expect(found).toMatchObject([
    { taskQueue: 'q', role: 'workflow', lastPolledAt: undefined },
    { taskQueue: 'q', role: 'tools', lastPolledAt: expect.any(Number) },
    { taskQueue: 'q.model', role: 'model' },
    { taskQueue: 'q.host.box.docker', role: undefined },
    { taskQueue: 'q.sandbox', role: 'sandbox', sandbox: 'auto' },
    { taskQueue: 'q.sandbox.docker', role: 'sandbox', sandbox: 'docker' },
  ])
  const [, tools] = found
  expect(tools && 'waitingSince' in tools ? Date.now() - tools.waitingSince : 0).toBeGreaterThan(28_000)
})

test('a queue that was polled since its task was scheduled is served', async () => {
  const { client } = serverWith({ 'activity q.model': 10, 'workflow q': 90 })
  expect(await findUnservedQueues(client, runWith({ pendingActivities: [activity('q.model', 1, 30)] }))).toEqual([])
})

test('no request is sent for tasks that are started, just scheduled, or in retry backoff', async () => {
  const { client, requestedQueues } = serverWith({})
  const pendingActivities = [activity('q.a', 2, 60), activity('q.b', 1, 0), activity('q.c', 1, -30)]
  const pendingWorkflowTask = { state: 2, scheduledTime: secondsAgo(60) }
  expect(await findUnservedQueues(client, runWith({ pendingActivities, pendingWorkflowTask }))).toEqual([])
  expect(requestedQueues).toEqual([])
})

test('a repeatedly failing activity of the engine is reported; not a call, a turn or an interrupt', async () => {
  const { client } = serverWith({})
  const failed = (type: string, attempt: number) =>
    activity('q', 1, -10, { attempt, activityType: { name: type }, lastFailure: { message: `no ${type}` } })
  const pendingActivities = [
    failed('session.open', 8),
    failed('run.config', 2),
    failed('journal.append', 1),
    failed('model.turn', 3),
    failed('session.interrupt', 9),
    failed('charge', 3),
  ]
  expect(await findUnservedQueues(client, runWith({ pendingActivities }))).toEqual([
    { activity: 'session.open', failedAttempts: 7, reason: 'no session.open' },
    { activity: 'run.config', failedAttempts: 1, reason: 'no run.config' },
  ])
})
