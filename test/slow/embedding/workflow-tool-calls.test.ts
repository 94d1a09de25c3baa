import { fileURLToPath } from 'node:url'
import { Worker } from '@temporalio/worker'
import { expect } from 'vitest'
import { z } from 'zod'
import { createPtcClient } from '../../../src/client/index.js'
import { ToolError } from '../../../src/index.js'
import { DeferredToolCalls } from '../../support/deferred-tool.js'
import { clientOf, connect, createPlugin, createWorker } from '../../support/environment/embedded-worker.js'
import { executionHistories, scheduledActivitiesOfType } from '../../support/environment/histories.js'
import { temporalTest as test } from '../../support/temporal/shared-server.js'
import { tool } from '../../support/tools.js'
import type * as workflows from '../../integration/embedding/workflows/tool-calls.js'

const workflowsPath = fileURLToPath(new URL('../../integration/embedding/workflows/tool-calls.ts', import.meta.url))

const textOfSize = tool('text_of_size', ({ characters }) => 'x'.repeat(Number(characters)), {
  input: z.object({ characters: z.int() }),
  output: z.string(),
})
const plus = tool('plus', ({ a, b }) => Number(a) + Number(b), {
  input: z.object({ a: z.number(), b: z.number() }),
  output: z.number(),
})

test('a workflow calls tools of every kind, and replays', async ({ taskQueue, workflowId }) => {
  const approvals = new DeferredToolCalls()
  const whoami = tool('whoami', (_input, { context }) => context['tenant'] ?? null)
  const plugin = await createPlugin({ tools: [plus, textOfSize, whoami, approvals.tool('approve')] })
  const connection = await connect({ plugins: [plugin] })
  const worker = await createWorker({ connection, taskQueue, workflowsPath })
  const client = clientOf(connection)
  const result = await worker.runUntil(async () => {
    const options = { taskQueue, workflowId }
    const handle = await client.workflow.start<typeof workflows.ofEveryKind>('ofEveryKind', options)
    await createPtcClient({ client, taskQueue }).completeCall(await approvals.token(1), { approved: true })
    return handle.result()
  })
  expect(result).toEqual([3, 600_000, 'acme', { approved: true }])
  const [history = { events: [] }] = await executionHistories(client, { workflowId })
  expect(scheduledActivitiesOfType(history, 'plus')).toMatchObject([{ summary: 'plus {"a":1,"b":2}' }])
  expect(scheduledActivitiesOfType(history, 'run.config')).toHaveLength(2)
  await Worker.runReplayHistory({ plugins: [plugin], workflowsPath }, history, workflowId)
})

test('the summary of a call has no arguments when the configuration redacts texts', async ({
  taskQueue,
  workflowId,
}) => {
  const redact = (text: string) => text.replaceAll('secret', '…')
  const connection = await connect({ plugins: [await createPlugin({ tools: [tool('look', () => null)], redact })] })
  const worker = await createWorker({ connection, taskQueue, workflowsPath })
  const client = clientOf(connection)
  await worker.runUntil(
    client.workflow.execute<typeof workflows.look>('look', { taskQueue, workflowId, args: ['secret'] }),
  )
  const [history = { events: [] }] = await executionHistories(client, { workflowId })
  expect(scheduledActivitiesOfType(history, 'look')).toMatchObject([{ summary: 'look' }])
})

test('a failed call of a workflow throws a typed failure', async ({ taskQueue, workflowId }) => {
  const refuse = tool('refuse', () => Promise.reject(new ToolError('closed on Sundays')))
  const pay = tool('pay', () => Promise.reject(new Error('connection lost')), { effect: 'once' })
  const connection = await connect({ plugins: [await createPlugin({ tools: [plus, textOfSize, refuse, pay] })] })
  const worker = await createWorker({ connection, taskQueue, workflowsPath })
  const options = { taskQueue, workflowId }
  const run = clientOf(connection).workflow.execute<typeof workflows.failing>('failing', options)
  expect(await worker.runUntil(run)).toEqual([
    expect.stringMatching(/^TOOL_INPUT_INVALID plus: [^]*b: expected number/),
    'TOOL_NOT_ALLOWED nothing: there is no tool named nothing',
    'TOOL_FAILED refuse: closed on Sundays',
    expect.stringMatching(/^TOOL_OUTCOME_UNKNOWN pay: .*connection lost/),
    expect.stringMatching(/^TOOL_FAILED text_of_size: .*bytes/),
  ])
})

test('each call of a workflow has its own idempotency key, also after continue-as-new', async ({
  taskQueue,
  workflowId,
}) => {
  const keys: string[] = []
  const look = tool('look', (_input, { idempotencyKey }) => keys.push(idempotencyKey))
  const connection = await connect({ plugins: [await createPlugin({ tools: [look] })] })
  const worker = await createWorker({ connection, taskQueue, workflowsPath })
  const options = { taskQueue, workflowId }
  await worker.runUntil(clientOf(connection).workflow.execute<typeof workflows.repeated>('repeated', options))
  expect(keys).toHaveLength(4)
  expect(new Set(keys).size).toBe(4)
})
