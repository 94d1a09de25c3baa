import { fileURLToPath } from 'node:url'
import { describe, expect } from 'vitest'
import { createPtcClient } from '../../../src/client/index.js'
import { clientOf, connect, createPlugin, createWorker } from '../../support/environment/embedded-worker.js'
import { temporaryFolder } from '../../support/folders.js'
import { temporalTest as test, uniqueName } from '../../support/temporal/shared-server.js'

const workflows = new URL('../../integration/embedding/workflows/', import.meta.url)
const workflowsPath = fileURLToPath(new URL('own.ts', workflows))
const conflictingPath = fileURLToPath(new URL('with-agent.ts', workflows))
const activities = { greet: (name: string) => Promise.resolve(`Hello, ${name}`) }
const program = { source: 'print(await plus(a=40, b=2))' }
const output42 = { outcome: { status: 'ok', output: '42\n' } }

describe('the life cycle of a worker with the plugin', () => {
  test('a worker with the plugin can run again after it has ended', async ({ taskQueue }) => {
    const connection = await connect({ plugins: [await createPlugin()] })
    const ptc = createPtcClient({ client: clientOf(connection), taskQueue })
    for (const attempt of [1, 2]) {
      const worker = await createWorker({ connection, taskQueue })
      const run = await worker.runUntil(async () => (await ptc.startProgram(program)).result())
      expect(run, `attempt ${attempt}`).toMatchObject(output42)
    }
  })

  test('a worker with the plugin ends when it is shut down before its other workers run', async ({ taskQueue }) => {
    const connection = await connect({ plugins: [await createPlugin()] })
    const worker = await createWorker({ connection, taskQueue })
    await worker.runUntil(Promise.resolve())
    expect(worker.getState()).toBe('STOPPED')
  })

  test('a worker with the plugin can be created again after a failure', async ({ taskQueue }) => {
    const connection = await connect({ plugins: [await createPlugin()] })
    await expect(createWorker({ connection, taskQueue, workflowsPath: conflictingPath })).rejects.toThrow('agent')
    const worker = await createWorker({ connection, taskQueue })
    const ptc = createPtcClient({ client: clientOf(connection), taskQueue })
    const run = await worker.runUntil(async () => (await ptc.startProgram(program)).result())
    expect(run).toMatchObject(output42)
  })

  test('a worker with the plugin reports an unregistered activity as the SDK does', async ({
    taskQueue,
    workflowId,
  }) => {
    const connection = await connect({ plugins: [await createPlugin()] })
    const worker = await createWorker({ connection, taskQueue, workflowsPath })
    const client = clientOf(connection)
    const options = { taskQueue, workflowId, args: ['Ada'], retry: { maximumAttempts: 1 } }
    const run = worker.runUntil(client.workflow.execute('greetOnce', options))
    await expect(run).rejects.toMatchObject({
      cause: {
        cause: { type: 'NotFoundError', message: 'Activity function greet is not registered on this Worker' },
      },
    })
  })

  test('a worker with its own activity keeps its task queue', async ({ taskQueue, workflowId }) => {
    const directory = await temporaryFolder()
    const values = { store: { kind: 'local', directory } } as const
    const first = await connect({ plugins: [await createPlugin({ values, roles: ['workflow', 'tools'] })] })
    const second = await connect({ plugins: [await createPlugin({ values, roles: ['sandbox'] })] })
    const own = uniqueName('own')
    const one = await createWorker({ connection: first, taskQueue, workflowsPath })
    const two = await createWorker({ connection: second, taskQueue, activities })
    const client = clientOf(first)
    const result = await one.runUntil(() =>
      two.runUntil(client.workflow.execute('welcome', { taskQueue, workflowId, args: [own] })),
    )
    expect(result).toMatchObject({ greeting: `Hello, ${own}`, program: output42 })
  })
})
