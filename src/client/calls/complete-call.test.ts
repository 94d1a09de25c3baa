import { ApplicationFailure, type Client, WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client'
import { expect, it, vi } from 'vitest'
import { encodeCompletionToken } from '../../common/calls/completion-token.js'
import { completeCall } from './complete-call.js'

const token = encodeCompletionToken({
  namespace: 'default',
  workflowId: 'run',
  firstExecutionRunId: 'first',
  idempotencyKey: 'key',
  signature: 'signature',
})

/** A client of a server that gives these responses to an update, and this status in a description of the run. */
function clientOf(status: string, ...responses: readonly (Error | undefined)[]) {
  const executeUpdate = vi.fn<() => Promise<void>>()
  for (const response of responses)
    executeUpdate.mockImplementationOnce(() => (response ? Promise.reject(response) : Promise.resolve()))
  const describe = () => Promise.resolve({ status: { name: status } })
  const client = {
    options: { namespace: 'default', identity: 'test', loadedDataConverter: {} },
    connection: { withDeadline: (_deadline: number, send: () => Promise<void>) => send() },
    workflow: { getHandle: () => ({ executeUpdate, describe }) },
  }
  return { client: client as unknown as Client, executeUpdate }
}

/** The responses of Temporal's server to an update after its execution has closed, also to each repetition. */
const closed = {
  'it had not accepted the update': new WorkflowNotFoundError(
    'workflow update was aborted by closing workflow',
    'run',
    undefined,
  ),
  'it had accepted the update': new WorkflowUpdateFailedError(
    'Workflow Update failed',
    ApplicationFailure.create({ type: 'AcceptedUpdateCompletedWorkflow' }),
  ),
}

it.each(Object.entries(closed))('a completion is not repeated when its run has ended: %s', async (_case, response) => {
  const { client, executeUpdate } = clientOf('COMPLETED', response)
  const completed = completeCall(client, token, { type: 'value', value: 1 })
  await expect(completed).rejects.toMatchObject({ code: 'CALL_NOT_FOUND' })
  expect(executeUpdate).toHaveBeenCalledTimes(1)
})

it.each(Object.entries(closed))('a completion is repeated when its run continues: %s', async (_case, response) => {
  const { client, executeUpdate } = clientOf('RUNNING', response, undefined)
  await completeCall(client, token, { type: 'value', value: 1 })
  expect(executeUpdate).toHaveBeenCalledTimes(2)
})
