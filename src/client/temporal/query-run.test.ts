import { type Client, QueryNotRegisteredError, ServiceError, WorkflowNotFoundError } from '@temporalio/client'
import { expect, it, vi } from 'vitest'
import { queryRefusedMessage } from '../../common/names.js'
import { queryRun } from './query-run.js'

/** The client's error for INVALID_ARGUMENT. */
function invalid(message: string): QueryNotRegisteredError {
  // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- see api-enums.ts
  return new QueryNotRegisteredError(message, 3)
}

const refused = invalid(queryRefusedMessage)

/** A client with the outcomes of its queries, in order. */
function clientWith(outcomes: readonly unknown[], status = 'RUNNING') {
  const query = vi.fn()
  for (const outcome of outcomes) {
    if (outcome instanceof Error) query.mockRejectedValueOnce(outcome)
    else query.mockResolvedValueOnce(outcome)
  }
  const describe = () => Promise.resolve({ status: { name: status } })
  const client = { workflow: { getHandle: () => ({ query, describe }) } } as unknown as Client
  return { query, ask: () => queryRun(client, { workflowId: 'run' }, 'inspect') }
}

it('queryRun retries a refused query until it succeeds', async () => {
  const { query, ask } = clientWith([refused, refused, 'result'])
  expect(await ask()).toBe('result')
  expect(query).toHaveBeenCalledTimes(3)
})

it('queryRun retries a query when the worker stopped before it responded', async () => {
  const cause = Object.assign(new Error('1 CANCELLED: context canceled'), {
    code: 1,
    details: 'context canceled',
    metadata: {},
  })
  const { ask } = clientWith([new ServiceError('Failed to query Workflow', { cause }), 'result'])
  expect(await ask()).toBe('result')
})

it('queryRun returns undefined for a refused query of a run that has ended', async () => {
  const { query, ask } = clientWith([refused, 'not sent'], 'TERMINATED')
  expect(await ask()).toBeUndefined()
  expect(query).toHaveBeenCalledTimes(1)
})

it('queryRun returns undefined when the query has no handler or the run does not exist', async () => {
  const unknown = invalid('Workflow did not register a handler for inspect.')
  expect(await clientWith([unknown]).ask()).toBeUndefined()
  expect(await clientWith([new WorkflowNotFoundError('none', 'run', undefined)]).ask()).toBeUndefined()
})

it('queryRun throws other errors of the query', async () => {
  await expect(clientWith([invalid('broken')]).ask()).rejects.toThrow('broken')
  await expect(clientWith([new Error('no server')]).ask()).rejects.toThrow('no server')
})
