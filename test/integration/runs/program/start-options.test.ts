import { expect } from 'vitest'
import { createPtcClient } from '../../../../src/client/index.js'
import { temporalTest as test, terminateAfterTest } from '../../../support/temporal/shared-server.js'

// The server does all of this, so no worker is needed.

test('starting a run accepts the options of Temporal', async ({ client, taskQueue, workflowId }) => {
  const ptc = createPtcClient({ client, taskQueue })
  terminateAfterTest(client, workflowId)
  const options = {
    workflowId,
    memo: { ticket: 7 },
    startDelay: '1 hour',
    workflowExecutionTimeout: '2 hours',
    priority: { priorityKey: 2, fairnessKey: 'acme' },
  } as const
  const { runId } = await ptc.startProgram({ source: 'print(1)' }, options)
  const handle = client.workflow.getHandle(workflowId)
  const { memo, raw, priority } = await handle.describe()
  expect(memo).toEqual({ ticket: 7, summary: 'print(1)' })
  expect(priority).toMatchObject({ priorityKey: 2, fairnessKey: 'acme' })
  expect(raw.executionConfig?.workflowRunTimeout).toMatchObject({ seconds: expect.anything() as unknown })
  const { events } = await handle.fetchHistory()
  const started = events?.[0]?.workflowExecutionStartedEventAttributes
  expect(Number(started?.workflowExecutionTimeout?.seconds)).toBe(7_200)
  expect(Number(started?.firstWorkflowTaskBackoff?.seconds)).toBe(3_600)

  const again = { workflowId, workflowIdConflictPolicy: 'USE_EXISTING' } as const
  expect(await ptc.startProgram({ source: 'print(2)' }, again)).toMatchObject({ runId })
  await expect(ptc.startProgram({ source: 'print(2)' }, { workflowId })).rejects.toMatchObject({ code: 'RUN_EXISTS' })
})

test('the server ends a run at its execution timeout', async ({ client, taskQueue, workflowId }) => {
  const ptc = createPtcClient({ client, taskQueue })
  const options = { workflowId, workflowExecutionTimeout: '1s' } as const
  const run = await ptc.startProgram({ source: 'print(1)' }, options)
  await expect(run.result()).rejects.toMatchObject({ code: 'RUN_TIMED_OUT' })
  const refused = { workflowId, workflowIdReusePolicy: 'REJECT_DUPLICATE' } as const
  await expect(ptc.startProgram({ source: 'print(1)' }, refused)).rejects.toMatchObject({ code: 'RUN_EXISTS' })
})
