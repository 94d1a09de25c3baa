import { type Client, ServiceError, WorkflowClient } from '@temporalio/client'
import { afterEach, expect, it, vi } from 'vitest'
import { listBusyRuns } from './list-runs.js'

const client = { options: { namespace: 'default', loadedDataConverter: { payloadCodecs: [] } } } as unknown as Client

/** A server with these runs. */
function serve(runsOf: (query: string) => readonly string[]): void {
  vi.spyOn(WorkflowClient.prototype, 'count').mockImplementation((query) =>
    Promise.resolve({ count: runsOf(query ?? '').length, groups: [] }),
  )
  vi.spyOn(WorkflowClient.prototype, 'list').mockImplementation((options) => {
    const infos = runsOf(options?.query ?? '').map((workflowId, index) => ({
      workflowId,
      status: { name: 'RUNNING' },
      typedSearchAttributes: { getAll: () => [] },
      startTime: new Date(1_000_000 - index),
    }))
    return (async function* () {
      await Promise.resolve()
      yield* infos
    })() as unknown as ReturnType<WorkflowClient['list']>
  })
}

afterEach(() => void vi.restoreAllMocks())

const ids = async (limit: number) => (await listBusyRuns(client, 'q', limit)).map(({ workflowId }) => workflowId)

it('lists the runs that wait first, however old they are, and then the newest others', async () => {
  serve((query) => (query.includes('PtcStatus IN (') ? ['old'] : ['new', 'newer', 'old']))
  expect(await ids(2)).toEqual(['old', 'new'])
  expect(await ids(100)).toEqual(['old', 'new', 'newer'])
})

it('asks for statuses that wait for something from outside', async () => {
  const asked: string[] = []
  serve((query) => {
    asked.push(query)
    return []
  })
  await ids(1)
  expect(asked[0]).toContain("PtcStatus IN ('waiting_for_approval', 'waiting_for_result', 'paused')")
})

it('lists the newest runs of a server without the search attribute', async () => {
  serve((query) => {
    if (query.includes('PtcStatus'))
      throw new ServiceError('invalid', {
        cause: Object.assign(new Error('no such attribute'), { code: 3, details: '', metadata: {} }),
      })
    return ['new', 'old']
  })
  expect(await ids(1)).toEqual(['new'])
})
