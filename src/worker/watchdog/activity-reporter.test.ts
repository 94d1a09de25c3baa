import { CompleteAsyncError } from '@temporalio/activity'
import { ActivityCancellationDetails, type Payload } from '@temporalio/common'
import { MockActivityEnvironment } from '@temporalio/testing'
import type { NativeConnection } from '@temporalio/worker'
import { expect, it } from 'vitest'
import { storedResultKey } from '../../common/calls/stored-result.js'
import { ActivityReporter, type ActivityWatchdog } from './activity-reporter.js'
import { monotonicMs } from './protocol.js'

interface Sent {
  readonly type: string
  readonly result?: { readonly payloads: readonly Payload[] }
  readonly details?: { readonly payloads: readonly Payload[] }
}

/** Runs an activity with a heartbeat timeout of 6 s on an event loop that was blocked for some seconds. */
async function runBlocked(
  seconds: number,
  work: (activity: ActivityReporter, environment: MockActivityEnvironment) => Promise<unknown>,
  heartbeatReply: object = {},
) {
  const environment = new MockActivityEnvironment()
  const throughCore: unknown[] = []
  environment.on('heartbeat', (details) => throughCore.push(details))
  const direct: Sent[] = []
  const respond =
    (type: string, response = {}) =>
    (request: object) => {
      direct.push({ type, ...request })
      return response instanceof Error ? Promise.reject(response) : Promise.resolve(response)
    }
  const connection = {
    plugins: [],
    withAbortSignal: (_signal: AbortSignal, request: () => unknown) => request(),
    workflowService: {
      respondActivityTaskCompleted: respond('completed'),
      respondActivityTaskFailed: respond('failed'),
      respondActivityTaskCanceled: respond('cancelled'),
      recordActivityTaskHeartbeat: respond('heartbeat', heartbeatReply),
    },
  } as unknown as NativeConnection
  const reported: unknown[] = []
  let silentMs = 0
  const outcome: unknown = await environment
    .run(() => {
      const { context } = environment
      const { taskToken } = context.info
      const watched = { id: 1, taskToken, activityType: 'charge', workflowId: 'run', heartbeatTimeoutMs: 6_000 }
      const watch: ActivityWatchdog = {
        connection,
        dataConverter: {},
        blockedForMs: () => silentMs,
        describe: () => 'blocked by charge',
        readMessages: () => activity.recordHeartbeat(monotonicMs()),
        send: (message) => reported.push(message),
        runCode: (_id, code) => code(),
      }
      const startedAt = monotonicMs() - 60_000
      const activity = new ActivityReporter(context, { ...watched, details: undefined }, watch, startedAt)
      return activity.complete(() => {
        silentMs = seconds * 1_000
        return work(activity, environment)
      })
    })
    .catch((thrown: unknown) => thrown)
  const texts = (payloads: readonly Payload[] = []) =>
    payloads.map(({ data, metadata }) => [new TextDecoder().decode(data ?? undefined), note(metadata)])
  return {
    outcome,
    throughCore,
    reported,
    direct: direct.map(({ type, result, details }) => [type, ...texts(result?.payloads ?? details?.payloads)]),
  }
}

function note(metadata: Payload['metadata']): string | undefined {
  const bytes = metadata?.['blocked']
  return bytes ? new TextDecoder().decode(bytes) : undefined
}

const timedOut = new ActivityCancellationDetails({ timedOut: true, notFound: true })

it('an activity reports through core after a short block', async () => {
  const run = await runBlocked(3, (activity) => {
    activity.heartbeat({ page: 7 })
    return Promise.resolve('done')
  })
  expect(run).toMatchObject({
    outcome: 'done',
    direct: [],
    throughCore: [{ page: 7, blocked: 'blocked by charge' }],
    reported: [{ type: 'details', id: 1, details: '{"page":7}' }],
  })
})

it('an activity sends its result directly, with a note, after a long block', async () => {
  const run = await runBlocked(25, () => Promise.resolve('done'))
  expect(run.outcome).toBeInstanceOf(CompleteAsyncError)
  expect(run.direct).toEqual([['completed', ['"done"', 'blocked by charge']]])
})

it('an activity sends its failure directly, after the last heartbeat', async () => {
  const run = await runBlocked(25, (activity) => {
    activity.heartbeat({ page: 7 })
    throw new Error('broken')
  })
  expect(run.outcome).toBeInstanceOf(CompleteAsyncError)
  expect(run.direct.map(([type]) => type)).toEqual(['heartbeat', 'failed'])
  expect(run.throughCore).toEqual([])
})

it('an activity continues when core times it out although its heartbeats were recorded', async () => {
  const run = await runBlocked(25, (activity, environment) => {
    environment.cancel('TIMED_OUT', timedOut)
    return Promise.resolve(activity.signal.aborted)
  })
  expect(run.direct).toEqual([['completed', ['false', 'blocked by charge']]])
})

it('the reply to a direct heartbeat cancels an activity', async () => {
  const run = await runBlocked(
    25,
    async (activity, environment) => {
      environment.cancel('TIMED_OUT', timedOut)
      activity.heartbeat(undefined)
      await new Promise((settle) => activity.signal.addEventListener('abort', settle))
      activity.signal.throwIfAborted()
    },
    { cancelRequested: true },
  )
  expect(run.outcome).toBeInstanceOf(CompleteAsyncError)
  expect(run.direct.map(([type]) => type)).toEqual(['heartbeat', 'cancelled'])
})

it('core cancels an activity that was not blocked', async () => {
  const run = await runBlocked(0, (activity, environment) => {
    environment.cancel('TIMED_OUT', timedOut)
    activity.signal.throwIfAborted()
    return Promise.resolve()
  })
  expect(run.outcome).toMatchObject({ message: 'TIMED_OUT' })
  expect(run.direct).toEqual([])
})

it.each([
  [0.5, true],
  [1.5, false],
])('after a block of %d s, details are stored: %j', async (seconds, isStored) => {
  // The watchdog thread sends heartbeats in a block of a second. One of them may arrive after details that are stored.
  const { outcome, direct } = await runBlocked(seconds, (activity) => activity.store({ page: 7 }))
  expect(outcome).toBe(isStored)
  expect(direct.map(([type]) => type)).toEqual(isStored ? ['heartbeat'] : [])
})

it('details count as not stored when the event loop was blocked meanwhile', async () => {
  // The watchdog thread may have sent a heartbeat with the details before.
  const { outcome } = await runBlocked(0, (activity) => {
    const isStored = activity.store({ page: 7 })
    activity.recordBlock(1_500)
    return isStored
  })
  expect(outcome).toBe(false)
})

it("a heartbeat of the user's own code keeps a stored result, and nothing is stored after it", async () => {
  const first = { [storedResultKey]: { value: 1 } }
  const { outcome, direct, throughCore } = await runBlocked(0, async (activity, { context }) => {
    const storing = activity.store(first)
    context.heartbeat('while it is stored')
    const isStored = await storing
    context.heartbeat({ page: 7 })
    context.heartbeat(8)
    return [isStored, await activity.store({ [storedResultKey]: { value: 2 } })]
  })
  expect(outcome).toEqual([true, false])
  expect(direct).toHaveLength(1)
  expect(throughCore).toEqual([{ page: 7, ...first }, first])
})

it.each([
  ['is cancelled', { cancelRequested: true }],
  ['is paused', { activityPaused: true }],
  ['is reset', { activityReset: true }],
  ['is unknown', Object.assign(new Error('not found'), { code: 5, details: '', metadata: {} })],
  ['has too large details', Object.assign(new Error('too large'), { code: 3, details: '', metadata: {} })],
])(
  'details count as not stored when the server replies that the activity %s, and no others are stored',
  async (_, reply) => {
    const { outcome, direct } = await runBlocked(
      0,
      async (activity) => [await activity.store({ page: 7 }), await activity.store({ page: 8 })],
      reply,
    )
    expect(outcome).toEqual([false, false])
    expect(direct).toHaveLength(1)
  },
)
