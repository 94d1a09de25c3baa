import { type Client, ServiceError } from '@temporalio/client'
import { expect, test } from 'vitest'
import { queueOfUntakenTask, whileServed } from './missing-worker.js'

const secondsAgo = (seconds: number) => ({ seconds: Math.floor(Date.now() / 1_000) - seconds })

interface Served {
  /** PENDING_WORKFLOW_TASK_STATE_* of the task that has waited for a minute, at each look; the last one from then on. */
  readonly states: readonly number[]
  /** Seconds since the latest poll; undefined when there was none. */
  readonly polledAgo?: number
}

/** A server with one run. */
function serverWith({ states, polledAgo }: Served): Client {
  let looks = 0
  const describe = () => {
    const state = states[Math.min(looks, states.length - 1)]
    looks += 1
    return Promise.resolve({
      status: { name: 'RUNNING' },
      taskQueue: 'q',
      raw: { pendingWorkflowTask: state === 0 ? undefined : { state, scheduledTime: secondsAgo(60) } },
    })
  }
  const describeTaskQueue = () =>
    Promise.resolve({ pollers: polledAgo === undefined ? [] : [{ lastAccessTime: secondsAgo(polledAgo) }] })
  return {
    options: { namespace: 'default' },
    connection: { withAbortSignal: (_signal: AbortSignal, work: () => unknown) => work() },
    workflow: { getHandle: () => ({ describe }) },
    workflowService: { describeTaskQueue },
  } as unknown as Client
}

const none = 0
const scheduled = 1
const asked = { what: "can't ask session books", isQuery: true }
const never = () => new Promise<string>(() => undefined)

test('a task that no worker takes ends the waiting, with the queue and the time', async () => {
  const client = serverWith({ states: [scheduled], polledAgo: 65 })
  await expect(whileServed(client, { workflowId: 'run' }, asked, never)).rejects.toMatchObject({
    code: 'WORKER_MISSING',
    message: expect.stringMatching(
      /^can't ask session books: no worker takes tasks from q: waiting for 1m.*, last poll 1m.* ago; `ptc worker --roles workflow` starts one$/,
    ),
  })
})

test('an answer is waited for while a worker polls', async () => {
  const client = serverWith({ states: [scheduled], polledAgo: 1 })
  const answer = new Promise<string>((resolve) => void setTimeout(resolve, 1_500, 'answer'))
  expect(await whileServed(client, { workflowId: 'run' }, asked, () => answer)).toBe('answer')
})

test('the server says that nobody polls: the error has queue and time', async () => {
  const refused = Object.assign(new Error('no poller seen for task queue recently, worker may be down'), {
    code: 9,
    details: 'no poller seen for task queue recently, worker may be down',
    metadata: {},
  })
  const query = () => Promise.reject(new ServiceError('Failed to query Workflow', { cause: refused }))
  const client = serverWith({ states: [none], polledAgo: 30 })
  await expect(whileServed(client, { workflowId: 'run' }, asked, query)).rejects.toMatchObject({
    code: 'WORKER_MISSING',
    message: expect.stringMatching(/no worker takes tasks from q: last poll 3\d\.\ds ago/),
  })
})

test('what a workflow was told is taken: soon, or by nobody', async () => {
  const untaken = (served: Served) => queueOfUntakenTask(serverWith(served), { workflowId: 'run' })
  expect(await untaken({ states: [none] })).toBeUndefined()
  expect(await untaken({ states: [scheduled, none], polledAgo: 1 })).toBeUndefined()
  expect(await untaken({ states: [scheduled] })).toMatchObject({ taskQueue: 'q', lastPolledAt: undefined })
  expect(await untaken({ states: [scheduled], polledAgo: 65 })).toMatchObject({ taskQueue: 'q' })
})
