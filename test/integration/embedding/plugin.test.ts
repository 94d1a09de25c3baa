import { fileURLToPath } from 'node:url'
import { Client } from '@temporalio/client'
import type { Payload, PayloadCodec } from '@temporalio/common'
import proto from '@temporalio/proto'
import { bundleWorkflowCode, DefaultLogger, Worker } from '@temporalio/worker'
import { describe, expect, vi } from 'vitest'
import { createPtcClient } from '../../../src/client/index.js'
import { allWorkflowNames } from '../../../src/common/names.js'
import type { PtcPluginOptions } from '../../../src/worker/plugin/index.js'
import { clientOf, connect, createPlugin, createWorker } from '../../support/environment/embedded-worker.js'
import { readHistory } from '../../support/environment/histories.js'
import { temporaryFolder } from '../../support/folders.js'
import {
  sharedServer,
  temporalTest as test,
  terminateAfterTest,
  uniqueName,
} from '../../support/temporal/shared-server.js'

const { EventType } = proto.temporal.api.enums.v1
const workflowsPath = fileURLToPath(new URL('workflows/own.ts', import.meta.url))
const conflictingPath = fileURLToPath(new URL('workflows/with-agent.ts', import.meta.url))
const activities = { greet: (name: string) => Promise.resolve(`Hello, ${name}`) }
const program = { source: 'print(await plus(a=40, b=2))' }
const output42 = { outcome: { status: 'ok', output: '42\n' } }

describe('a worker of a user with the plugin', () => {
  test('a worker with the plugin runs its own workflow and activity, and a program as their child', async ({
    taskQueue,
    workflowId,
  }) => {
    const connection = await connect({ plugins: [await createPlugin()] })
    const worker = await createWorker({ connection, taskQueue, workflowsPath, activities })
    const client = clientOf(connection)
    const result = await worker.runUntil(client.workflow.execute('welcome', { taskQueue, workflowId, args: ['Ada'] }))
    expect(result).toMatchObject({ greeting: 'Hello, Ada', program: output42 })
  })

  test('a worker with the plugin runs each workflow of durable-ptc in addition to its own', async ({ taskQueue }) => {
    const connection = await connect({ plugins: [await createPlugin()] })
    const worker = await createWorker({ connection, taskQueue, workflowsPath })
    const client = clientOf(connection)
    await worker.runUntil(
      Promise.all(
        allWorkflowNames.map(async (name) => {
          const workflowId = uniqueName(name)
          await client.workflow.start(name, { taskQueue, workflowId, args: [{}] })
          terminateAfterTest(client, workflowId)
          // The worker would fail the first workflow task of a workflow that it does not have.
          await vi.waitFor(
            async () => {
              const { events } = await readHistory(client, workflowId)
              const types = events.map(({ eventType }) => eventType)
              expect(types, name).toContain(EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED)
              expect(types, name).not.toContain(EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED)
            },
            { timeout: 30_000, interval: 100 },
          )
        }),
      ),
    )
  })

  test('a worker with the plugin runs a program without own workflows or activities', async ({ taskQueue }) => {
    const plugin = await createPlugin()
    const connection = await connect()
    const worker = await createWorker({ connection, taskQueue, plugins: [plugin] })
    // Each event of a history contains the id; the SDK's own build id is ten times as long.
    expect(worker.options.workerDeploymentOptions?.version.buildId).toMatch(/^[0-9a-f]{12}$/)
    const ptc = createPtcClient({ client: clientOf(connection, [plugin]), taskQueue })
    const run = await worker.runUntil(async () => (await ptc.startProgram(program)).result())
    expect(run).toMatchObject(output42)
  })

  test('a worker with the plugin runs workflows of a bundle that was made with the plugin', async ({
    taskQueue,
    workflowId,
  }) => {
    const plugin = await createPlugin()
    const connection = await connect({ plugins: [plugin] })
    const logger = new DefaultLogger('ERROR')
    const workflowBundle = await bundleWorkflowCode({ workflowsPath, plugins: [plugin], logger })
    const worker = await createWorker({ connection, taskQueue, workflowBundle, activities })
    const client = clientOf(connection)
    const result = await worker.runUntil(client.workflow.execute('welcome', { taskQueue, workflowId, args: ['Ada'] }))
    expect(result).toMatchObject({ program: output42 })
  })

  test('a worker with the plugin stores a large payload in the value store, after the codec of the user', async ({
    taskQueue,
  }) => {
    const plugin = await createPlugin()
    const connection = await connect()
    const dataConverter = { payloadCodecs: [invertingCodec] }
    const worker = await createWorker({ connection, taskQueue, dataConverter, plugins: [plugin] })
    const { namespace } = sharedServer()
    const client = new Client({ connection, namespace, dataConverter, plugins: [plugin] })
    const source = `text = '${'x'.repeat(300_000)}'\nprint(len(text))`
    const ptc = createPtcClient({ client, taskQueue })
    const run = await worker.runUntil(async () => {
      const handle = await ptc.startProgram({ source, limits: { sourceBytes: 1_000_000 } })
      const { events } = await readHistory(client, handle.workflowId)
      const input = events[0]?.workflowExecutionStartedEventAttributes?.input?.payloads?.[0]
      expect(input?.data?.length).toBeLessThan(1_000)
      return handle.result()
    })
    expect(run).toMatchObject({ outcome: { output: '300000\n' } })
  })

  test('a worker with the plugin replays its histories', async ({ taskQueue }) => {
    const plugin = await createPlugin()
    const connection = await connect({ plugins: [plugin] })
    const client = clientOf(connection)
    const ptc = createPtcClient({ client, taskQueue })
    const worker = await createWorker({ connection, taskQueue })
    const { workflowId } = await worker.runUntil(async () => {
      const handle = await ptc.startProgram(program)
      await handle.result()
      return handle
    })
    const history = await readHistory(client, workflowId)
    await Worker.runReplayHistory({ plugins: [plugin] }, history, workflowId)
    await Worker.runReplayHistory({ plugins: [plugin], workflowsPath }, history, workflowId)
  })
})

test('a run on a worker without the plugin reports why it does not continue', async ({ taskQueue }) => {
  const connection = await connect()
  const worker = await createWorker({ connection, taskQueue, workflowsPath, activities })
  const ptc = createPtcClient({ client: clientOf(connection), taskQueue })
  const failure = await worker.runUntil(async () => {
    const handle = await ptc.startProgram(program)
    const found = await vi.waitFor(
      async () => {
        const { failure } = await handle.tree()
        expect(failure).toBeDefined()
        return failure
      },
      { timeout: 60_000, interval: 100 },
    )
    await clientOf(connection).workflow.getHandle(handle.workflowId).terminate()
    return found
  })
  expect(failure).toMatchObject({ code: 'WORKFLOW_TASK_FAILED', message: expect.stringContaining("'program'") })
})

describe('roles', () => {
  test('two workers share the roles of a task queue', async ({ taskQueue }) => {
    const directory = await temporaryFolder()
    const values = { store: { kind: 'local', directory } } as const
    const first = await connect({ plugins: [await createPlugin({ values, roles: ['workflow', 'tools'] })] })
    const second = await connect({ plugins: [await createPlugin({ values, roles: ['sandbox'] })] })
    const one = await createWorker({ connection: first, taskQueue })
    const two = await createWorker({ connection: second, taskQueue })
    expect(two.options.taskQueue).toBe(`${taskQueue}.sandbox`)
    const ptc = createPtcClient({ client: clientOf(first), taskQueue })
    const run = await one.runUntil(() => two.runUntil(async () => (await ptc.startProgram(program)).result()))
    expect(run).toMatchObject(output42)
  })
})

describe('a worker that the plugin refuses', () => {
  test('the plugin refuses a workflow of the user with the name of one of the engine', async ({ taskQueue }) => {
    const connection = await connect({ plugins: [await createPlugin()] })
    await expect(createWorker({ connection, taskQueue, workflowsPath: conflictingPath })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: 'the workflows of this worker export agent, a workflow of durable-ptc',
    })
  })

  test('the plugin refuses a bundle that was made without the plugin', async ({ taskQueue }) => {
    const connection = await connect({ plugins: [await createPlugin()] })
    const workflowBundle = await bundleWorkflowCode({ workflowsPath, logger: new DefaultLogger('ERROR') })
    await expect(createWorker({ connection, taskQueue, workflowBundle })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: 'the workflow bundle of this worker has no workflows of durable-ptc',
      hint: expect.stringContaining('bundleWorkflowCode'),
    })
  })

  test('the plugin refuses an activity of the user with the name of a tool', async ({ taskQueue }) => {
    const connection = await connect({ plugins: [await createPlugin()] })
    const own = { plus: () => Promise.resolve(0) }
    await expect(createWorker({ connection, taskQueue, activities: own })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: 'the activities of this worker have plus, which is a tool of durable-ptc',
    })
  })

  test.for([
    ['each with tools', {}, {}],
    ['the first one without tools', { tools: [] }, {}],
    ['the second one without tools', {}, { tools: [] }],
  ] as const)('the plugin refuses a worker that has the plugin twice, %s', async ([, first, second], { taskQueue }) => {
    const connection = await connect({ plugins: [await createPlugin(first)] })
    const another = await createPlugin(second)
    await expect(createWorker({ connection, taskQueue, plugins: [another] })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: 'this worker has the plugin of durable-ptc twice',
    })
  })

  test("the plugin refuses a worker whose sandbox can't be opened", async ({ taskQueue }) => {
    const sandbox = { backend: 'docker', image: 'durable-ptc-no-such-image:1' } as const
    const connection = await connect({ plugins: [await createPlugin({ sandbox })] })
    await expect(createWorker({ connection, taskQueue, activities })).rejects.toMatchObject({
      code: expect.stringMatching(/^SANDBOX_/),
    })
  })

  test('the plugin refuses a worker with only the role tools and without tools', async ({ taskQueue }) => {
    const connection = await connect({ plugins: [await createPlugin({ tools: [], roles: ['tools'] })] })
    await expect(createWorker({ connection, taskQueue })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: 'this worker has nothing to do',
    })
  })

  test('the plugin refuses a worker without a connection', async ({ taskQueue }) => {
    const plugin = await createPlugin()
    await expect(createWorker({ taskQueue, plugins: [plugin] })).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      hint: expect.stringContaining('NativeConnection.connect'),
    })
  })

  test.for([
    [{ roles: ['tool'] }, 'roles'],
    [{ roles: [] }, 'roles'],
    [{ hostId: 'a b' }, 'hostId'],
    [{ tools: undefined }, 'tools'],
    [{ taskQueue: 5 }, 'taskQueue'],
  ] as const)('the plugin refuses the options %j', async ([options, named]) => {
    const invalid = options as Partial<PtcPluginOptions>
    await expect(createPlugin(invalid)).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining(named),
    })
  })
})

/** A codec of a user that stands for encryption. */
const invertingCodec: PayloadCodec = {
  encode: (payloads) => Promise.resolve(payloads.map(invert)),
  decode: (payloads) => Promise.resolve(payloads.map(invert)),
}

function invert({ metadata, data }: Payload): Payload {
  return { metadata: metadata ?? {}, data: (data ?? new Uint8Array()).map((byte) => 255 - byte) }
}
