import { type Client, WorkflowNotFoundError } from '@temporalio/client'
import { TypedSearchAttributes } from '@temporalio/common'
import { expect, test } from 'vitest'
import { executeInSession } from './execute.js'

test('an execution fails after several sessions that ended before they accepted it', async () => {
  let updates = 0
  const handle = {
    describe: () =>
      Promise.resolve({
        runId: 'run',
        status: { name: 'RUNNING' },
        memo: {},
        startTime: new Date(),
        typedSearchAttributes: new TypedSearchAttributes(),
      }),
    startUpdate: () => {
      updates += 1
      // Without a limit the loop never ends.
      const failure = updates > 50 ? new Error('too many updates') : new WorkflowNotFoundError('gone', 'session', 'run')
      return Promise.reject(failure)
    },
  }
  const client = { workflow: { getHandle: () => handle } } as unknown as Client
  await expect(executeInSession(client, 'queue', 'mine', 'x = 1', {})).rejects.toMatchObject({
    code: 'SESSION_CLOSED',
    message: expect.stringContaining('nothing was executed'),
  })
  expect(updates).toBe(5)
})
