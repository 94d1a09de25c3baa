import { fileURLToPath } from 'node:url'
import { Context } from '@temporalio/activity'
import { Client } from '@temporalio/client'
import { ApplicationFailure } from '@temporalio/common'
import proto from '@temporalio/proto'
import { describe, expect, vi } from 'vitest'
import { createPtcClient } from '../../../src/client/index.js'
import { ToolError } from '../../../src/index.js'
import { connect, createPlugin, createWorker } from '../../support/environment/embedded-worker.js'
import { sharedServer, temporalTest as test, uniqueName } from '../../support/temporal/shared-server.js'
import { tool } from '../../support/tools.js'
import type * as workflows from './workflows/hostile.js'

const { EventType } = proto.temporal.api.enums.v1
const workflowsPath = fileURLToPath(new URL('workflows/hostile.ts', import.meta.url))

const fail = (): never => {
  throw new Error('a getter')
}
const proxyOf = (target: object): object =>
  new Proxy(target, { get: fail, has: fail, getPrototypeOf: fail, ownKeys: fail, getOwnPropertyDescriptor: fail })

function chain(length: number): Error {
  let error = new Error('the last cause')
  for (let depth = 0; depth < length; depth++) error = new Error('m', { cause: error })
  return error
}

const cyclic = new Error('cyclic')
cyclic.cause = cyclic

/** What the activities of these names throw. */
const throwers = {
  proxy: () => proxyOf(new Error('a proxy')),
  proxyOfFailure: () => proxyOf(new ApplicationFailure('a proxy')),
  message: () => Object.defineProperty(new Error('m'), 'message', { get: fail }),
  stack: () => Object.defineProperty(new Error('m'), 'stack', { get: fail }),
  messageOfFailure: () => Object.defineProperty(new ApplicationFailure('m'), 'message', { get: fail }),
  noTexts: () => Object.assign(new Error('m'), { message: [1, 2], stack: ['a'], name: {} }),
  noTextInType: () => ApplicationFailure.create({ message: 'm', type: ['a', 'b'] as never }),
  toString: () => ({ toString: fail, message: { toString: fail } }),
  nothing: () => undefined,
  symbol: () => Symbol('s'),
  noPrototype: () => Object.create(null) as object,
  cyclic: () => cyclic,
  deep: () => chain(10_000),
  long: () => new Error('😀'.repeat(5_000_000)),
  bigint: () => ApplicationFailure.create({ message: 'm', details: [1n] }),
  delay: () => ApplicationFailure.create({ message: 'm', nextRetryDelay: NaN }),
  infiniteDelay: () => ApplicationFailure.create({ message: 'm', nextRetryDelay: Infinity }),
  longDelay: () => ApplicationFailure.create({ message: 'm', nextRetryDelay: 1e300 }),
  negativeDelay: () => ApplicationFailure.create({ message: 'm', nextRetryDelay: -5_000 }),
  heartbeat: () => {
    Context.current().heartbeat(1n)
    return new Error('m')
  },
}

/** Texts of 1 to 100 units, with half a surrogate pair at the start, at the end, or in the middle. */
const texts = Array.from({ length: 100 }, (_, index) => {
  const half = index % 2 === 0 ? '\ud83d' : '\ude00'
  const place = [0, index, Math.floor(index / 2)][index % 3] ?? 0
  return `${'a'.repeat(place)}${half}`.padEnd(index + 1, 'b')
})

const workflowTaskEvents: ReadonlySet<number> = new Set([
  EventType.EVENT_TYPE_WORKFLOW_TASK_SCHEDULED,
  EventType.EVENT_TYPE_WORKFLOW_TASK_STARTED,
  EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED,
  EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED,
])

describe('a worker of a user', () => {
  test('a worker of a user survives what its activities, tools and workflows throw, and its clients send', async ({
    taskQueue,
    workflowId,
  }) => {
    const refuse = tool('refuse', ({ text }) => {
      throw new ToolError(`no ${text as string}`)
    })
    const activities = {
      echo: async (text: string) => text,
      throwText: async (text: string) => {
        throw Object.assign(ApplicationFailure.create({ message: text, type: text, nonRetryable: true }), {
          stack: text,
        })
      },
      ...Object.fromEntries(
        Object.entries(throwers).map(([name, thrower]) => [
          name,
          async () => {
            throw thrower()
          },
        ]),
      ),
      badResult: async () => 1n,
    }
    const connection = await connect({ plugins: [await createPlugin({ tools: [refuse] })] })
    const worker = await createWorker({ connection, taskQueue, workflowsPath, activities })
    const { namespace } = sharedServer()
    await worker.runUntil(async () => {
      const half = 'é\ud83d'
      const { workflow } = new Client({ connection, namespace, identity: half })
      const ptc = createPtcClient({ client: new Client({ connection, namespace }), taskQueue })
      const id = () => uniqueName(workflowId)

      expect(
        await workflow.execute<typeof workflows.throwTexts>('throwTexts', {
          taskQueue,
          workflowId: id(),
          args: [texts],
        }),
      ).toEqual(texts.map((text) => ({ message: text.toWellFormed(), type: text.toWellFormed() })))

      const names = [...Object.keys(throwers), 'badResult']
      const failures = await workflow.execute<typeof workflows.throwEach>('throwEach', {
        taskQueue,
        workflowId: id(),
        args: [names],
      })
      expect(failures).toHaveLength(names.length)
      for (const failure of failures) expect(failure).toMatchObject({ message: expect.any(String) as string })

      expect(
        await workflow.execute<typeof workflows.commands>('commands', {
          taskQueue,
          workflowId: `${id()}${half}`,
          memo: { [half]: half },
          staticSummary: half,
          staticDetails: half,
          priority: { fairnessKey: half },
          args: [half],
        }),
      ).toContain('Child Workflow execution failed')
      await expect(
        workflow.execute<typeof workflows.failing>('failing', { taskQueue, workflowId: id(), args: [half] }),
      ).rejects.toMatchObject({ cause: { message: 'é\ufffd', type: 'é\ufffd' } })

      const handle = await workflow.start<typeof workflows.waiting>('waiting', {
        taskQueue,
        workflowId: `${id()}${half}`,
        args: [half],
      })
      await handle.signal(half, half)
      for (const update of ['reject', 'fail', half])
        await expect(
          handle.executeUpdate(update, { updateId: `${update}${half}`, args: [half] as never }),
        ).rejects.toThrow()
      for (const query of ['query', half]) await expect(handle.query(query, half)).rejects.toThrow()
      await handle.terminate(half)

      // The first two have no arguments, and those of the third can't be decoded.
      const limiter = await workflow.start('toolLimit', { taskQueue, workflowId: id(), args: [{ tool: 'refuse' }] })
      await limiter.signal('request')
      await limiter.signal('release')
      await connection.workflowService.signalWorkflowExecution({
        namespace,
        workflowExecution: { workflowId: limiter.workflowId },
        signalName: 'release',
        input: { payloads: [{ metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('not JSON') }] },
      })
      await vi.waitFor(async () => {
        const types = (await limiter.fetchHistory()).events?.map(({ eventType }) => eventType)
        expect(types).not.toContain(EventType.EVENT_TYPE_WORKFLOW_TASK_FAILED)
        // A timer may follow the last task.
        const tasks = types?.filter((type) => type && workflowTaskEvents.has(type))
        expect(tasks?.at(-1)).toBe(EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED)
        expect(types).toContain(EventType.EVENT_TYPE_WORKFLOW_EXECUTION_SIGNALED)
      }, 20_000)
      await limiter.terminate()

      const program = await ptc.startProgram({
        source: String.raw`
for text in ["\ud83d", "a\ude00", "\ud83d\ud83d", "x" * 39 + "\ud83d"]:
    try:
        await refuse(text=text)
    except ToolError as error:
        print(error)
print("\ud83d", "😀")
raise ValueError("\ud83d")`,
      })
      const { outcome } = await program.result()
      const { output, error } = outcome as Extract<typeof outcome, { status: 'code_error' }>
      expect(output).toMatch(/^no .\nno a.\nno ..\nno x{39}.\n\\ud83d 😀\n$/)
      expect(error).toContain('ValueError')
      expect([output.isWellFormed(), error.isWellFormed()]).toEqual([true, true])
    })
  })
})
