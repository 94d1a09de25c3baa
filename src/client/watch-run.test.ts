import { defaultDataConverter } from '@temporalio/common'
import type { Client } from '@temporalio/client'
import { expect, test } from 'vitest'
import { handMade } from '../../test/run-tree/recorded.js'
import type { HistoryEvent, RunTree } from './history/index.js'
import { watchRun } from './watch-run.js'

const execution = { workflowId: 'run', runId: 'first' }

/** A server that has each event on a page of its own. */
function serverOf(events: readonly HistoryEvent[]): Client {
  const getWorkflowExecutionHistory = ({ nextPageToken }: { readonly nextPageToken?: Uint8Array }) => {
    const place = nextPageToken === undefined ? 0 : Number(Buffer.from(nextPageToken).toString())
    const isLast = place === events.length - 1
    return Promise.resolve({
      history: { events: events.slice(place, place + 1) },
      nextPageToken: isLast ? undefined : Buffer.from(String(place + 1)),
    })
  }
  const connection = {
    withDeadline: (_deadline: number, ask: () => unknown) => ask(),
    withAbortSignal: (_signal: AbortSignal, ask: () => unknown) => ask(),
  }
  const options = { namespace: 'default', loadedDataConverter: defaultDataConverter }
  const workflow = { getHandle: () => ({ describe: () => Promise.resolve({ raw: { pendingActivities: [] } }) }) }
  return { connection, workflow, options, workflowService: { getWorkflowExecutionHistory } } as unknown as Client
}

function programOf(calls: number): readonly HistoryEvent[] {
  const indexes = Array.from({ length: calls }, (_, place) => place + 1)
  const described = indexes.map((index) => ({ index, tool: 'get', arguments: {}, summary: '', refused: null }))
  const step = { number: 1, input: { type: 'cell', cell: 1, source: 'x' } }
  const result = { type: 'suspended', calls: described, output: '' }
  const made = indexes.map((index) => {
    const position = { turn: 0, cell: 1, index }
    const input = { tool: 'get', caller: 'code_execution', position, idempotencyKey: `k${index}`, arguments: {} }
    return { name: 'get', id: `${index}`, input, result: index }
  })
  return handMade('program', { source: 'x' }, [{ name: 'session.advance', input: { step }, result }, ...made])
}

test('many events in a row are told together, and the last of them is told', async () => {
  const trees: RunTree[] = []
  const events = programOf(1_000)
  expect(events.length).toBeGreaterThan(2_000)
  const began = performance.now()
  const watched = await watchRun(serverOf(events), execution, { onChange: (tree) => trees.push(tree) })
  // One at once, one for each pause of 100 ms, one in the end.
  expect(trees.length).toBeLessThanOrEqual((performance.now() - began) / 100 + 2)
  expect(trees.at(-1)).toEqual(watched)
  const calls = watched.turns[0]?.cells[0]?.calls ?? []
  expect(calls.filter(({ status }) => status === 'ok')).toHaveLength(1_000)
})

test('what is thrown where changes are told ends the watching', async () => {
  const onChange = () => {
    throw new Error('no room')
  }
  await expect(watchRun(serverOf(programOf(1)), execution, { onChange })).rejects.toThrow('no room')
})
