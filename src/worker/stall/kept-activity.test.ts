import { CompleteAsyncError } from '@temporalio/activity'
import { ActivityCancellationDetails, type Payload } from '@temporalio/common'
import { MockActivityEnvironment } from '@temporalio/testing'
import type { NativeConnection } from '@temporalio/worker'
import { expect, it } from 'vitest'
import { KeptActivity, type Watch } from './kept-activity.js'
import { monotonicMs } from './protocol.js'

interface Sent {
  readonly type: string
  readonly result?: { readonly payloads: readonly Payload[] }
  readonly details?: { readonly payloads: readonly Payload[] }
}

/** An activity with a heartbeat timeout of 6 s on an event loop that has been blocked for some seconds. */
async function keep(
  seconds: number,
  work: (activity: KeptActivity, environment: MockActivityEnvironment) => Promise<unknown>,
  cancelRequested = false,
) {
  const environment = new MockActivityEnvironment()
  const throughCore: unknown[] = []
  environment.on('heartbeat', (details) => throughCore.push(details))
  const direct: Sent[] = []
  const take =
    (type: string, answer = {}) =>
    (request: object) => {
      direct.push({ type, ...request })
      return Promise.resolve(answer)
    }
  const connection = {
    plugins: [],
    withAbortSignal: (_signal: AbortSignal, request: () => unknown) => request(),
    workflowService: {
      respondActivityTaskCompleted: take('completed'),
      respondActivityTaskFailed: take('failed'),
      respondActivityTaskCanceled: take('cancelled'),
      recordActivityTaskHeartbeat: take('heartbeat', { cancelRequested }),
    },
  } as unknown as NativeConnection
  const reported: unknown[] = []
  let silentMs = 0
  const outcome: unknown = await environment
    .run(() => {
      const { context } = environment
      const { taskToken } = context.info
      const watched = { id: 1, taskToken, activityType: 'charge', workflowId: 'run', heartbeatTimeoutMs: 6_000 }
      const watch: Watch = {
        connection,
        dataConverter: {},
        silentMs: () => silentMs,
        describe: () => 'blocked by charge',
        readMessages: () => activity.wasSent(monotonicMs()),
        tell: (message) => reported.push(message),
        setHandler: () => undefined,
      }
      const begunAt = monotonicMs() - 60_000
      const activity = new KeptActivity(context, { ...watched, details: undefined }, watch, begunAt)
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

it('leaves an activity to core that was blocked for a moment', async () => {
  const kept = await keep(3, (activity) => {
    activity.heartbeat({ page: 7 })
    return Promise.resolve('done')
  })
  expect(kept).toMatchObject({
    outcome: 'done',
    direct: [],
    throughCore: [{ page: 7, blocked: 'blocked by charge' }],
    reported: [{ type: 'details', id: 1, details: '{"page":7}' }],
  })
})

it('sends a result directly, with a note, which core would have dropped', async () => {
  const kept = await keep(25, () => Promise.resolve('done'))
  expect(kept.outcome).toBeInstanceOf(CompleteAsyncError)
  expect(kept.direct).toEqual([['completed', ['"done"', 'blocked by charge']]])
})

it('sends a failure directly, behind the last heartbeat', async () => {
  const kept = await keep(25, (activity) => {
    activity.heartbeat({ page: 7 })
    throw new Error('broken')
  })
  expect(kept.outcome).toBeInstanceOf(CompleteAsyncError)
  expect(kept.direct.map(([type]) => type)).toEqual(['heartbeat', 'failed'])
  expect(kept.throughCore).toEqual([])
})

it('goes on when core gives up an activity whose heartbeats have arrived', async () => {
  const kept = await keep(25, (activity, environment) => {
    environment.cancel('TIMED_OUT', timedOut)
    return Promise.resolve(activity.signal.aborted)
  })
  expect(kept.direct).toEqual([['completed', ['false', 'blocked by charge']]])
})

it('is told of a cancellation that only the server knows of', async () => {
  const kept = await keep(
    25,
    async (activity, environment) => {
      environment.cancel('TIMED_OUT', timedOut)
      activity.heartbeat(undefined)
      await new Promise((settle) => activity.signal.addEventListener('abort', settle))
      activity.signal.throwIfAborted()
    },
    true,
  )
  expect(kept.outcome).toBeInstanceOf(CompleteAsyncError)
  expect(kept.direct.map(([type]) => type)).toEqual(['heartbeat', 'cancelled'])
})

it('is cancelled by core as any other when it was not blocked', async () => {
  const kept = await keep(0, (activity, environment) => {
    environment.cancel('TIMED_OUT', timedOut)
    activity.signal.throwIfAborted()
    return Promise.resolve()
  })
  expect(kept.outcome).toMatchObject({ message: 'TIMED_OUT' })
  expect(kept.direct).toEqual([])
})
