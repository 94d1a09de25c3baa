import { defaultDataConverter } from '@temporalio/common'
import type { Client } from '@temporalio/client'
import { expect, test } from 'vitest'
import { handMade } from '../../../test/run-tree/recorded.js'
import type { RunTree } from '../history/index.js'
import { watchExecution } from './watch-execution.js'

test('a cell that ends while it is looked at is shown as ended', async () => {
  const over = new AbortController()
  const step = { number: 1, input: { type: 'cell', cell: 1, source: 'print(1)' } }
  const all = handMade('session', { name: 'books' }, [
    { name: 'session.advance', input: { step }, result: { type: 'completed', output: '1\n' } },
  ])
  let known = all.slice(0, -1)
  const getWorkflowExecutionHistoryReverse = () => Promise.resolve({ history: { events: known.toReversed() } })
  const describe = () => {
    // The end comes after the history was read, and before the look is over.
    known = [...all]
    over.abort()
    return Promise.resolve({ raw: { pendingActivities: [] } })
  }
  const client = {
    options: { namespace: 'default', loadedDataConverter: defaultDataConverter },
    workflow: { getHandle: () => ({ describe }) },
    workflowService: { getWorkflowExecutionHistoryReverse },
  } as unknown as Client
  const trees: RunTree[] = []
  const execution = { workflowId: 'session:durable-ptc:books', runId: 'run', updateId: 'update', source: 'print(1)' }
  await watchExecution(client, execution, (tree) => trees.push(tree), over.signal)
  const cells = trees.map(({ turns }) => turns[0]?.cells[0])
  expect(cells.map((cell) => cell?.status)).toEqual(['running', 'ok'])
  expect(cells.at(-1)).toMatchObject({ output: '1\n', endedAt: expect.any(Number) })
})
