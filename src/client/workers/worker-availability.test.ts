import { type Client, ServiceError } from '@temporalio/client'
import { expect, test } from 'vitest'
import { waitForTaskPickup, failWithoutWorker } from './worker-availability.js'

const secondsAgo = (seconds: number) => ({ seconds: Math.floor(Date.now() / 1_000) - seconds })

interface Served {
  /**
   * PENDING_WORKFLOW_TASK_STATE_* of the task that has waited for a minute, at each poll; the last one from then on.
   */
  readonly states: readonly number[]
  /** Seconds since the latest poll; undefined when there was none. */
  readonly polledAgo?: number
}

/** A server with one run. @param onDescribeQueue called for each request about a task queue */
function serverWith({ states, polledAgo }: Served, onDescribeQueue = () => {}): Client {
  let polls = 0
  const describe = () => {
    const state = states[Math.min(polls, states.length - 1)]
    polls += 1
    return Promise.resolve({
      status: { name: 'RUNNING' },
      taskQueue: 'q',
      raw: { pendingWorkflowTask: state === 0 ? undefined : { state, scheduledTime: secondsAgo(60) } },
    })
  }
  const describeTaskQueue = () => {
    onDescribeQueue()
    return Promise.resolve({ pollers: polledAgo === undefined ? [] : [{ lastAccessTime: secondsAgo(polledAgo) }] })
  }
  return {
    options: { namespace: 'default' },
    connection: { withAbortSignal: (_signal: AbortSignal, work: () => unknown) => work() },
    workflow: { getHandle: () => ({ describe }) },
    workflowService: { describeTaskQueue },
  } as unknown as Client
}

const none = 0
const scheduled = 1
const query = { failedAction: "can't ask session books", isQuery: true }
const never = () => new Promise<string>(() => undefined)

test('failWithoutWorker fails when no worker takes the workflow task, with the queue and the time', async () => {
  const client = serverWith({ states: [scheduled], polledAgo: 65 })
  await expect(failWithoutWorker(client, { workflowId: 'run' }, query, never)).rejects.toMatchObject({
    code: 'WORKER_MISSING',
    message: expect.stringMatching(
      /^can't ask session books: no worker takes tasks from q: waiting for 1m.*, last poll 1m.* ago; `ptc worker --roles workflow` starts one$/,
    ),
  })
})

test('failWithoutWorker waits for the result while a worker polls', async () => {
  const client = serverWith({ states: [scheduled], polledAgo: 1 })
  const answer = new Promise<string>((resolve) => void setTimeout(resolve, 1_500, 'answer'))
  expect(await failWithoutWorker(client, { workflowId: 'run' }, query, () => answer)).toBe('answer')
})

test('failWithoutWorker maps the error for a queue without pollers, with the queue and the time', async () => {
  const refused = Object.assign(new Error('no poller seen for task queue recently, worker may be down'), {
    code: 9,
    details: 'no poller seen for task queue recently, worker may be down',
    metadata: {},
  })
  const sendQuery = () => Promise.reject(new ServiceError('Failed to query Workflow', { cause: refused }))
  const client = serverWith({ states: [none], polledAgo: 30 })
  await expect(failWithoutWorker(client, { workflowId: 'run' }, query, sendQuery)).rejects.toMatchObject({
    code: 'WORKER_MISSING',
    message: expect.stringMatching(/no worker takes tasks from q: last poll 3\d\.\ds ago/),
  })
})

test('waitForTaskPickup returns undefined once the task is taken, else the queue', async () => {
  const waitForPickup = (served: Served) => waitForTaskPickup(serverWith(served), { workflowId: 'run' })
  expect(await waitForPickup({ states: [none] })).toBeUndefined()
  expect(await waitForPickup({ states: [scheduled, none], polledAgo: 1 })).toBeUndefined()
  expect(await waitForPickup({ states: [scheduled] })).toMatchObject({ taskQueue: 'q', lastPolledAt: undefined })
  expect(await waitForPickup({ states: [scheduled], polledAgo: 65 })).toMatchObject({ taskQueue: 'q' })
})

test('each poll asks the server once for the task queue of the workflow', async () => {
  let requests = 0
  const client = serverWith({ states: [scheduled], polledAgo: 1 }, () => (requests += 1))
  const result = new Promise<string>((resolve) => void setTimeout(resolve, 1_500, 'result'))
  await failWithoutWorker(client, { workflowId: 'run' }, query, () => result)
  expect(requests).toBe(1)
})
