import { type Client, QueryNotRegisteredError, WorkflowNotFoundError } from '@temporalio/client'
import { expect, it, vi } from 'vitest'
import { queryRefused } from '../common/queries.js'
import { queryRun } from './query-run.js'

/** What the client makes of INVALID_ARGUMENT. */
function invalid(message: string): QueryNotRegisteredError {
  // oxlint-disable-next-line typescript/no-unsafe-enum-assignment -- the enum is in a package that is not ours to import
  return new QueryNotRegisteredError(message, 3)
}

const refused = invalid(queryRefused)

/** A client whose queries end like this, one after the other. */
function clientWith(endings: readonly unknown[], status = 'RUNNING') {
  const query = vi.fn()
  for (const ending of endings) {
    if (ending instanceof Error) query.mockRejectedValueOnce(ending)
    else query.mockResolvedValueOnce(ending)
  }
  const describe = () => Promise.resolve({ status: { name: status } })
  const client = { workflow: { getHandle: () => ({ query, describe }) } } as unknown as Client
  return { query, ask: () => queryRun(client, { workflowId: 'run' }, 'inspect') }
}

it('a refused query is sent again until it is answered', async () => {
  const { query, ask } = clientWith([refused, refused, 'answer'])
  expect(await ask()).toBe('answer')
  expect(query).toHaveBeenCalledTimes(3)
})

it('a refused query of a run that is over has no answer', async () => {
  const { query, ask } = clientWith([refused, 'never asked'], 'TERMINATED')
  expect(await ask()).toBeUndefined()
  expect(query).toHaveBeenCalledTimes(1)
})

it('a query without a handler, and one of a run that is not there, has no answer', async () => {
  const unknown = invalid('Workflow did not register a handler for inspect.')
  expect(await clientWith([unknown]).ask()).toBeUndefined()
  expect(await clientWith([new WorkflowNotFoundError('none', 'run', undefined)]).ask()).toBeUndefined()
})

it('a query that fails in any other way is an error', async () => {
  await expect(clientWith([invalid('broken')]).ask()).rejects.toThrow('broken')
  await expect(clientWith([new Error('no server')]).ask()).rejects.toThrow('no server')
})
