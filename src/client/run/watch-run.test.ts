import { defaultDataConverter } from '@temporalio/common'
import type { Client } from '@temporalio/client'
import { expect, test } from 'vitest'
import { syntheticHistory } from '../../../test/fixtures/run-tree/recorded.js'
import type { HistoryEvent, RunTree } from '../run-tree/index.js'
import { raceWithSignal } from '../../common/async/abort.js'
import { watchRun } from './watch-run.js'

const execution = { workflowId: 'run', runId: 'first' }

/** A server that sends 100 events per page. */
function serverOf(events: readonly HistoryEvent[], { hangsAtEnd = false, pageSize = 100 } = {}): Client {
  const getWorkflowExecutionHistory = ({ nextPageToken }: { readonly nextPageToken?: Uint8Array }) => {
    const index = nextPageToken === undefined ? 0 : Number(Buffer.from(nextPageToken).toString())
    const end = index + pageSize
    if (hangsAtEnd && end >= events.length) return new Promise(() => {})
    return Promise.resolve({
      history: { events: events.slice(index, end) },
      nextPageToken: end >= events.length ? undefined : Buffer.from(String(end)),
    })
  }
  const connection = {
    withDeadline: (_deadline: number, request: () => unknown) => request(),
    withAbortSignal: (signal: AbortSignal, request: () => Promise<unknown>) => raceWithSignal(signal, request()),
  }
  const options = { namespace: 'default', loadedDataConverter: defaultDataConverter }
  const workflow = { getHandle: () => ({ describe: () => Promise.resolve({ raw: { pendingActivities: [] } }) }) }
  return { connection, workflow, options, workflowService: { getWorkflowExecutionHistory } } as unknown as Client
}

function programOf(callCount: number): readonly HistoryEvent[] {
  const indexes = Array.from({ length: callCount }, (_, index) => index + 1)
  const described = indexes.map((index) => ({ index, tool: 'get', arguments: {}, summary: '', refused: null }))
  const step = { number: 1, input: { type: 'cell', cell: 1, source: 'x' } }
  const result = { type: 'suspended', calls: described, output: '' }
  const calls = indexes.map((index) => {
    const position = { turn: 0, cell: 1, index }
    const input = { tool: 'get', caller: 'code_execution', position, idempotencyKey: `k${index}`, arguments: {} }
    return { name: 'get', id: `${index}`, input, result: index }
  })
  return syntheticHistory('program', { source: 'x' }, [{ name: 'session.step', input: { step }, result }, ...calls])
}

test('watchRun calls onChange once for many consecutive events, and for the last one', async () => {
  const trees: RunTree[] = []
  const events = programOf(1_000)
  expect(events.length).toBeGreaterThan(2_000)
  const startedAt = performance.now()
  const finalTree = await watchRun(serverOf(events), execution, { onChange: (tree) => trees.push(tree) })
  // One immediately, one after each pause of 100 ms, one at the end.
  expect(trees.length).toBeLessThanOrEqual((performance.now() - startedAt) / 100 + 2)
  expect(trees.at(-1)).toEqual(finalTree)
  const calls = finalTree.turns[0]?.cells[0]?.calls ?? []
  expect(calls.filter(({ status }) => status === 'ok')).toHaveLength(1_000)
})

test('an error of onChange ends watchRun', async () => {
  const onChange = () => {
    throw new Error('disk full')
  }
  await expect(watchRun(serverOf(programOf(1)), execution, { onChange })).rejects.toThrow('disk full')
})

test('an error of onChange ends watchRun, although no further event arrives', async () => {
  let count = 0
  const onChange = () => {
    count += 1
    throw new Error('disk full')
  }
  const server = serverOf(programOf(1), { hangsAtEnd: true, pageSize: 1 })
  await expect(watchRun(server, execution, { onChange })).rejects.toThrow('disk full')
  expect(count).toBe(1)
})
