import { type Client, WorkflowClient } from '@temporalio/client'
import { afterEach, expect, it, vi } from 'vitest'
import type { WorkflowWaits } from '../../common/calls/deferred-calls.js'
import { PtcError } from '../../common/errors.js'
import * as watchRun from '../run/watch-run.js'
import type { RunTree } from '../run-tree/index.js'
import { waitsOfRuns } from './open-waits.js'

afterEach(() => void vi.restoreAllMocks())

const answer: WorkflowWaits = {
  firstExecutionRunId: '1',
  calls: [],
  helpers: [],
  paused: { item: 'turns', amount: 1, since: 0 },
}

/** A client with open runs, whose workflows answer the query. */
function clientWith(open: number, query: () => Promise<unknown>): Client {
  const infos = Array.from({ length: open }, (_, index) => ({
    workflowId: `run-${index}`,
    status: { name: 'RUNNING' },
    typedSearchAttributes: { getAll: () => [] },
    startTime: new Date(1_000_000 - index),
  }))
  vi.spyOn(WorkflowClient.prototype, 'count').mockResolvedValue({ count: open, groups: [] })
  vi.spyOn(WorkflowClient.prototype, 'list').mockImplementation(
    () =>
      (async function* () {
        await Promise.resolve()
        yield* infos
      })() as unknown as ReturnType<WorkflowClient['list']>,
  )
  return {
    options: { namespace: 'default', loadedDataConverter: { payloadCodecs: [] } },
    connection: { withDeadline: (_deadline: number, work: () => unknown) => work() },
    workflow: { getHandle: () => ({ query }) },
  } as unknown as Client
}

it.each([0, 1.5, Number.NaN])('refuses the limit %d, and sends no request', async (limit) => {
  await expect(waitsOfRuns({} as Client, 'q', { limit })).rejects.toMatchObject({ code: 'RUN_INPUT_INVALID' })
})

it.each([
  { open: 2, limit: 2, reached: undefined },
  { open: 3, limit: 2, reached: 2 },
])('of $open runs, looks at $limit, and says whether it left some out', async ({ open, limit, reached }) => {
  const query = vi.fn(() => Promise.resolve(answer))
  const readTree = vi.spyOn(watchRun, 'readTree')
  const found = await waitsOfRuns(clientWith(open, query), 'q', { limit })
  expect(found.waits).toHaveLength(limit)
  expect(found.limit).toBe(reached)
  expect(query).toHaveBeenCalledTimes(limit)
  expect(readTree).not.toHaveBeenCalled()
})

it('reads the history of a run that does not answer, and leaves out a run that has been removed', async () => {
  vi.spyOn(watchRun, 'readTree')
    .mockResolvedValueOnce({ waitsFor: [{ type: 'budget', since: 0 }] } as unknown as RunTree)
    .mockRejectedValueOnce(new PtcError('TEMPORAL_NOT_FOUND', 'no run'))
  const { waits } = await waitsOfRuns(
    clientWith(2, () => Promise.reject(new Error('no worker'))),
    'q',
    {},
  )
  expect(waits).toMatchObject([{ run: { workflowId: 'run-0' }, wait: { type: 'budget' } }])
})
