import { fileURLToPath } from 'node:url'
import type { WorkflowFailedError } from '@temporalio/client'
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common'
import proto from '@temporalio/proto'
import { Worker } from '@temporalio/worker'
import { describe, expect, vi } from 'vitest'
import { createPtcClient } from '../../../src/client/index.js'
import { defineAgent } from '../../../src/index.js'
import { startScriptedMessagesApi } from '../../../src/testing/index.js'
import { DeferredToolCalls } from '../../support/deferred-tool.js'
import { clientOf, connect, createPlugin, createWorker, plus } from '../../support/environment/embedded-worker.js'
import {
  executionHistories,
  scheduledActivities,
  scheduledActivitiesOfType,
} from '../../support/environment/histories.js'
import { temporaryFolder } from '../../support/folders.js'
import { answerResult, code, turn } from '../../support/script.js'
import { temporalTest as test, uniqueName } from '../../support/temporal/shared-server.js'
import { Deferred, tool } from '../../support/tools.js'
import type * as blocks from '../../integration/embedding/workflows/blocks.js'

const { IndexedValueType } = proto.temporal.api.enums.v1
const workflowsPath = fileURLToPath(new URL('../../integration/embedding/workflows/blocks.ts', import.meta.url))

describe('a session in a workflow of a user', () => {
  test('a session in a workflow of a user keeps its variables, and its calls are activities of the workflow', async ({
    taskQueue,
    workflowId,
  }) => {
    const plugin = await createPlugin()
    const connection = await connect({ plugins: [plugin] })
    const worker = await createWorker({ connection, taskQueue, workflowsPath })
    const client = clientOf(connection)
    const cells = ['x = await plus(a=1, b=2)', 'print(x)', 'print(1 / 0)']
    const args: [string[]] = [cells]
    // Two workflows in one worker: each counts its own sessions.
    const workflowIds = [workflowId, uniqueName('other')]
    const [outcomes] = await worker.runUntil(
      Promise.all(
        workflowIds.map((id) =>
          client.workflow.execute<typeof blocks.inSession>('inSession', { taskQueue, workflowId: id, args }),
        ),
      ),
    )
    expect(outcomes).toMatchObject([
      { status: 'ok', output: '' },
      { status: 'ok', output: '3\n' },
      { status: 'code_error', error: expect.stringContaining('ZeroDivisionError') },
    ])
    for (const id of workflowIds) {
      const [history = { events: [] }] = await executionHistories(client, { workflowId: id })
      expect(scheduledActivitiesOfType(history, 'plus')).toMatchObject([{ id: 'turn-1.cell-1.call-1' }])
      expect(scheduledActivities(history).at(-1)?.type).toBe('session.close')
      await Worker.runReplayHistory({ plugins: [plugin], workflowsPath }, history, id)
    }
  })

  test('a session in a workflow completes a deferred call of its code', async ({ taskQueue, workflowId }) => {
    const calls = new DeferredToolCalls()
    const connection = await connect({ plugins: [await createPlugin({ tools: [calls.tool('approve')] })] })
    const worker = await createWorker({ connection, taskQueue, workflowsPath })
    const client = clientOf(connection)
    const ptc = createPtcClient({ client, taskQueue })
    const args: [string[]] = [['print(await approve(id=1))']]
    const outcomes = await worker.runUntil(async () => {
      const options = { taskQueue, workflowId, args }
      const handle = await client.workflow.start<typeof blocks.inSession>('inSession', options)
      await ptc.completeCall(await calls.token(1), { approved: true })
      return handle.result()
    })
    expect(outcomes).toMatchObject([{ status: 'ok', output: "{'approved': True}\n" }])
  })

  test('a session in a workflow gives its calls keys that no other session of the workflow and its chain has', async ({
    taskQueue,
    workflowId,
  }) => {
    const keys: string[] = []
    const look = tool('look', (_input, { idempotencyKey }) => keys.push(idempotencyKey))
    const connection = await connect({ plugins: [await createPlugin({ tools: [look] })] })
    const worker = await createWorker({ connection, taskQueue, workflowsPath })
    const run = clientOf(connection).workflow.execute<typeof blocks.inTwoSessions>('inTwoSessions', {
      taskQueue,
      workflowId,
      args: ['await look()'],
    })
    expect(await worker.runUntil(run)).toMatchObject([{ status: 'ok' }, { status: 'ok' }])
    expect(keys).toHaveLength(4)
    expect(new Set(keys).size).toBe(4)
  })

  test('a closed session in a workflow ends its executions, and an unknown language is refused', async ({
    taskQueue,
    workflowId,
  }) => {
    const connection = await connect({ plugins: [await createPlugin()] })
    const worker = await createWorker({ connection, taskQueue, workflowsPath })
    const run = clientOf(connection).workflow.execute<typeof blocks.afterClose>('afterClose', { taskQueue, workflowId })
    expect(await worker.runUntil(run)).toEqual([
      'SESSION_CLOSED',
      'SESSION_CLOSED',
      'RUN_INPUT_INVALID',
      'SESSION_CLOSED',
    ])
  })

  test('a session is closed when its workflow is cancelled while its code waits for a tool', async ({
    taskQueue,
    workflowId,
  }) => {
    const called = new Deferred()
    const aborted = new Deferred()
    const hold = tool('hold', async (_input, { signal }) => {
      called.resolve()
      signal.addEventListener('abort', () => aborted.resolve())
      await aborted.promise
    })
    const connection = await connect({ plugins: [await createPlugin({ tools: [hold] })] })
    const worker = await createWorker({ connection, taskQueue, workflowsPath })
    const client = clientOf(connection)
    const result = await worker.runUntil(async () => {
      const handle = await client.workflow.start<typeof blocks.untilCancelled>('untilCancelled', {
        taskQueue,
        workflowId,
      })
      await called.promise
      await handle.cancel()
      return handle.result()
    })
    expect(result).toBe('cancelled')
    await aborted.promise
    const [history = { events: [] }] = await executionHistories(client, { workflowId })
    expect(scheduledActivities(history).at(-1)?.type).toBe('session.close')
  })

  test('a session in a workflow survives the end of its worker, with its variables, and repeats no call', async ({
    taskQueue,
    workflowId,
  }) => {
    const values = { store: { kind: 'local', directory: await temporaryFolder() } } as const
    const hostId = uniqueName('host')
    const called = new Deferred<null>()
    const released = new Deferred<null>()
    const effects: unknown[] = []
    const charge = tool('charge', ({ order }) => effects.push(order), { effect: 'idempotent' })
    const hold = tool('hold', async () => {
      called.resolve(null)
      return released.promise
    })
    const createHost = async (): Promise<Worker> => {
      const connection = await connect({ plugins: [await createPlugin({ tools: [charge, hold], values, hostId })] })
      return createWorker({ connection, taskQueue, workflowsPath, shutdownGraceTime: 0 })
    }
    const client = clientOf(await connect({ plugins: [await createPlugin({ values })] }))
    const cells = ["name = 'Ada'\nawait charge(order='A')", "await hold()\nprint(name)\nawait charge(order='B')"]
    const first = await createHost()
    const options = { taskQueue, workflowId, args: [cells] as [string[]] }
    const handle = await first.runUntil(async () => {
      const started = await client.workflow.start<typeof blocks.inSession>('inSession', options)
      await called.promise
      return started
    })
    released.resolve(null)
    const second = await createHost()
    expect(await second.runUntil(handle.result())).toMatchObject([{ status: 'ok' }, { status: 'ok', output: 'Ada\n' }])
    expect(effects).toEqual(['A', 'B'])
  })

  test('opening a session with an invalid sandbox name fails the workflow with a typed error', async ({
    taskQueue,
    workflowId,
  }) => {
    const connection = await connect({ plugins: [await createPlugin()] })
    const worker = await createWorker({ connection, taskQueue, workflowsPath })
    const options = { taskQueue, workflowId }
    const run = clientOf(connection).workflow.execute<typeof blocks.inInvalidSandbox>('inInvalidSandbox', options)
    const failure = await worker.runUntil(run).then(
      () => undefined,
      (thrown: WorkflowFailedError) => thrown.cause,
    )
    expect(failure).toMatchObject({ cause: { type: 'RUN_INPUT_INVALID' } })
  })
})

test("an agent and a program run as child workflows of a user's workflow", async ({ taskQueue, workflowId }) => {
  const api = await startScriptedMessagesApi({ script: [turn(code('print(await plus(a=1, b=2))')), answerResult] })
  vi.stubEnv('ANTHROPIC_BASE_URL', api.url)
  vi.stubEnv('ANTHROPIC_API_KEY', 'test')
  try {
    const connection = await connect({ plugins: [await createPlugin({ tools: [plus] })] })
    const worker = await createWorker({ connection, taskQueue, workflowsPath })
    const args: [string, string] = ['How much?', 'print(await plus(a=40, b=2))']
    const run = clientOf(connection).workflow.execute<typeof blocks.childRuns>('childRuns', {
      taskQueue,
      workflowId,
      args,
    })
    expect(await worker.runUntil(run)).toMatchObject([
      { status: 'answered', answer: '3' },
      { outcome: { status: 'ok', output: '42\n' } },
    ])
  } finally {
    vi.unstubAllEnvs()
    await api.close()
  }
})

test('a child and a session have the agent, context, tools and input that the workflow gives them', async ({
  taskQueue,
  workflowId,
}) => {
  const api = await startScriptedMessagesApi({
    script: [turn(code('print(await whoami(), sum(input_data))')), answerResult],
  })
  vi.stubEnv('ANTHROPIC_BASE_URL', api.url)
  vi.stubEnv('ANTHROPIC_API_KEY', 'test')
  try {
    const whoami = tool(
      'whoami',
      (_input, { context, run }) => `${run.agent ?? 'nobody'} of ${JSON.stringify(context['tenant'])}`,
    )
    const agents = [defineAgent({ name: 'clerk', instructions: 'You work.', tools: ['whoami'] })]
    const connection = await connect({ plugins: [await createPlugin({ tools: [plus, whoami], agents })] })
    const worker = await createWorker({ connection, taskQueue, workflowsPath })
    const options = { taskQueue, workflowId, args: ['acme'] as [string] }
    const run = clientOf(connection).workflow.execute<typeof blocks.forTenant>('forTenant', options)
    expect(await worker.runUntil(run)).toMatchObject([
      { status: 'answered', answer: 'clerk of "acme" 3' },
      { status: 'ok', output: 'nobody of "acme" 7\n' },
    ])
  } finally {
    vi.unstubAllEnvs()
    await api.close()
  }
})

test('a child has the search attributes of the workflow', async ({ taskQueue, workflowId, server }) => {
  const connection = await connect({ plugins: [await createPlugin()] })
  const tenant = defineSearchAttributeKey('PtcTestTenant', SearchAttributeType.KEYWORD)
  const { namespace } = server
  // Another test may have added the attribute.
  await connection.operatorService
    .addSearchAttributes({
      namespace,
      searchAttributes: { [tenant.name]: IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD },
    })
    .catch(() => undefined)
  const worker = await createWorker({ connection, taskQueue, workflowsPath })
  const client = clientOf(connection)
  const typedSearchAttributes = [{ key: tenant, value: 'acme' }]
  const childId = await worker.runUntil(async () => {
    // The server knows a new attribute after a while.
    const handle = await vi.waitFor(
      () =>
        client.workflow.start<typeof blocks.childProgram>('childProgram', {
          taskQueue,
          workflowId,
          typedSearchAttributes,
        }),
      { timeout: 60_000, interval: 200 },
    )
    return handle.result()
  })
  const child = await client.workflow.getHandle(childId).describe()
  expect(child.typedSearchAttributes.get(tenant)).toBe('acme')
  expect(child.parentExecution?.workflowId).toBe(workflowId)
})
