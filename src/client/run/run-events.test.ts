import type { Client } from '@temporalio/client'
import { expect, it } from 'vitest'
import { deferred } from '../../common/async/deferred.js'
import { runHistoryPages } from './run-events.js'

interface PageRequest {
  readonly execution: { readonly runId: string }
  readonly nextPageToken?: Uint8Array
}

/** A client of a server with two executions of three pages with one event each. */
function clientOf(onRequest: (page: string) => Promise<void>): Client {
  const eventOf = (runId: string, eventId: number) => ({
    eventId,
    ...(eventId === 1 && {
      workflowExecutionStartedEventAttributes: { continuedExecutionRunId: runId === 'second' ? 'first' : '' },
    }),
    ...(eventId === 3 &&
      runId === 'first' && { workflowExecutionContinuedAsNewEventAttributes: { newExecutionRunId: 'second' } }),
  })
  const getWorkflowExecutionHistory = async ({ execution: { runId }, nextPageToken }: PageRequest) => {
    const page = nextPageToken?.[0] ?? 1
    await onRequest(`${runId} ${page}`)
    return {
      history: { events: [eventOf(runId, page)] },
      nextPageToken: page < 3 ? Uint8Array.of(page + 1) : undefined,
    }
  }
  return {
    options: { namespace: 'default' },
    workflowService: { getWorkflowExecutionHistory },
    connection: { withDeadline: (_deadline: number, request: () => unknown) => request() },
  } as unknown as Client
}

const execution = { workflowId: 'run', runId: 'second' }

async function pagesOf(client: Client): Promise<readonly string[]> {
  const pages: string[] = []
  for await (const { runId, events } of runHistoryPages(client, execution, { follow: false }))
    pages.push(`${runId} ${events.map(({ eventId }) => eventId).join(',')}`)
  return pages
}

const allPages = ['first 1', 'first 2', 'first 3', 'second 1', 'second 2', 'second 3']

it('yields the pages of a chain in order', async () => {
  expect(await pagesOf(clientOf(() => Promise.resolve()))).toEqual(allPages)
})

it('requests the pages of the next execution while a page of the one before is awaited', async () => {
  const lastRequested = deferred<void>()
  const client = clientOf(async (page) => {
    if (page === 'second 3') lastRequested.resolve()
    if (page === 'first 3') await lastRequested.promise
  })
  expect(await pagesOf(client)).toEqual(allPages)
})
