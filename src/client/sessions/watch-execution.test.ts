import { defaultDataConverter } from '@temporalio/common'
import type { Client } from '@temporalio/client'
import { expect, test } from 'vitest'
import { syntheticHistory } from '../../../test/fixtures/run-tree/recorded.js'
import type { RunTree } from '../run-tree/index.js'
import { watchExecution } from './watch-execution.js'

test('watchExecution reports a cell as ended when it ends during the last poll', async () => {
  const finished = new AbortController()
  const step = { number: 1, input: { type: 'cell', cell: 1, source: 'print(1)' } }
  const all = syntheticHistory('session', { name: 'books' }, [
    { name: 'session.step', input: { step }, result: { type: 'completed', output: '1\n' } },
  ])
  let available = all.slice(0, -1)
  const getWorkflowExecutionHistoryReverse = () => Promise.resolve({ history: { events: available.toReversed() } })
  const describe = () => {
    // The cell ends after the history was read and before the poll is over.
    available = [...all]
    finished.abort()
    return Promise.resolve({ raw: { pendingActivities: [] } })
  }
  const client = {
    options: { namespace: 'default', loadedDataConverter: defaultDataConverter },
    workflow: { getHandle: () => ({ describe }) },
    workflowService: { getWorkflowExecutionHistoryReverse },
  } as unknown as Client
  const trees: RunTree[] = []
  const execution = { workflowId: 'session:durable-ptc:books', runId: 'run', updateId: 'update', source: 'print(1)' }
  await watchExecution(client, execution, (tree) => trees.push(tree), finished.signal)
  const cells = trees.map(({ turns }) => turns[0]?.cells[0])
  expect(cells.map((cell) => cell?.status)).toEqual(['running', 'ok'])
  expect(cells.at(-1)).toMatchObject({ output: '1\n', endedAt: expect.any(Number) })
})
