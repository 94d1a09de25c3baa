import { type Client, WorkflowClient } from '@temporalio/client'
import { afterEach, expect, it, vi } from 'vitest'
import type { RunTree } from '../run-tree/index.js'
import { waitsOfRuns } from './open-waits.js'

afterEach(() => void vi.restoreAllMocks())

it.each([0, 1.5, Number.NaN])('refuses the limit %d, and sends no request', async (limit) => {
  const waits = waitsOfRuns({} as Client, 'q', () => Promise.reject(new Error('read')), { limit })
  await expect(waits).rejects.toMatchObject({ code: 'RUN_INPUT_INVALID' })
})

it.each([
  { open: 2, limit: 2, reached: undefined },
  { open: 3, limit: 2, reached: 2 },
])('of $open runs, looks at $limit, and says whether it left some out', async ({ open, limit, reached }) => {
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
  const client = { options: { namespace: 'default', loadedDataConverter: { payloadCodecs: [] } } } as unknown as Client
  const read = vi.fn((_id: string) =>
    Promise.resolve({ waitsFor: [{ type: 'budget', since: 0 }] } as unknown as RunTree),
  )
  const found = await waitsOfRuns(client, 'q', read, { limit })
  expect(found.waits).toHaveLength(limit)
  expect(found.limit).toBe(reached)
  expect(read).toHaveBeenCalledTimes(limit)
})
