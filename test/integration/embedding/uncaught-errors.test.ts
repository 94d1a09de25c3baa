import { setTimeout as delay } from 'node:timers/promises'
import { expect, vi } from 'vitest'
import { createPtcClient } from '../../../src/client/index.js'
import type { AuditEvent } from '../../../src/audit/index.js'
import { clientOf, connect, createPlugin, createWorker } from '../../support/environment/embedded-worker.js'
import { pollOptions } from '../../support/poll-options.js'
import { temporalTest as test } from '../../support/temporal/shared-server.js'
import { tool } from '../../support/tools.js'
import { withoutRunnerListeners } from '../../support/uncaught-errors.js'

const throwLater = (message: string, ms = 5): void =>
  void setTimeout(() => {
    throw new Error(message)
  }, ms)
const rejectLater = (message: string): void => void setTimeout(() => void Promise.reject(new Error(message)), 5)
const untilAborted = (signal: AbortSignal): Promise<string> =>
  new Promise((resolve) => signal.addEventListener('abort', () => resolve('told to stop')))

const stopped: string[] = []
const once = { retry: { attempts: 1 } }
const tools = [
  tool('rejects', (_input, { signal }) => (rejectLater('a promise'), untilAborted(signal)), once),
  tool(
    'throws',
    async (_input, { signal }) => {
      throwLater('a timer')
      stopped.push(await untilAborted(signal))
    },
    once,
  ),
  tool(
    'twice',
    async (_input, { attempt, signal }) => {
      if (attempt > 1) return 'the second time'
      rejectLater('the first time')
      return untilAborted(signal)
    },
    { effect: 'idempotent', retry: { attempts: 2, initialInterval: '1ms' } },
  ),
  tool('pays', (_input, { signal }) => (throwLater('after the payment'), untilAborted(signal)), { effect: 'once' }),
  tool('late', () => (throwLater('late', 50), 'done')),
  tool('waits', () => delay(300, 'calm')),
  tool('approved', () => 'approved', {
    approval: () => {
      throwLater('the rule')
      return new Promise(() => undefined)
    },
  }),
]

const program = `
import asyncio
async def attempt(call):
    try:
        return await call
    except ToolError as error:
        return f"{error.status}: {error}"
for result in await asyncio.gather(*map(attempt, [rejects(), throws(), twice(), pays(), late(), waits()])):
    print(result)
`

test('F39: an uncaught error of a tool fails only its call', async ({ taskQueue }) => {
  withoutRunnerListeners()
  const connection = await connect({ plugins: [await createPlugin({ tools })] })
  const worker = await createWorker({ connection, taskQueue })
  const ptc = createPtcClient({ client: clientOf(connection), taskQueue })
  const run = await worker.runUntil(async () => (await ptc.startProgram({ source: program })).result())
  expect(run.outcome).toMatchObject({ status: 'ok' })
  expect(run.outcome.output.trimEnd().split('\n')).toEqual([
    'tool_error: a promise',
    'tool_error: a timer',
    'the second time',
    expect.stringMatching(/^outcome_unknown: pays may or may not have happened: after the payment/),
    'done',
    'calm',
  ])
  expect(stopped).toEqual(['told to stop'])
})

test('an uncaught error of an approval rule, a hook or an audit sink fails the work that waits for it', async ({
  taskQueue,
}) => {
  withoutRunnerListeners()
  const broken: string[] = []
  const tokens: string[] = []
  const breakOnce = async (what: string): Promise<void> => {
    if (broken.includes(what)) return
    broken.push(what)
    rejectLater(what)
    await new Promise(() => undefined)
  }
  const onRequest = async ({ token }: { readonly token: string }): Promise<void> => {
    await breakOnce('the hook')
    tokens.push(token)
  }
  const write = ({ type }: AuditEvent): Promise<void> => breakOnce(`the sink for ${type}`)
  const options = { tools, approvals: { onRequest }, audit: { sink: { write } } }
  const connection = await connect({ plugins: [await createPlugin(options)] })
  const worker = await createWorker({ connection, taskQueue })
  const ptc = createPtcClient({ client: clientOf(connection), taskQueue })
  const run = await worker.runUntil(async () => {
    const started = await ptc.startProgram({ source: 'print(await approved())' })
    await vi.waitUntil(() => tokens.length > 0, pollOptions)
    // The call waits until the activity with the hook has ended.
    await vi.waitUntil(
      () =>
        ptc.approveCall(tokens[0] ?? '').then(
          () => true,
          () => false,
        ),
      pollOptions,
    )
    return started.result()
  })
  expect(run.outcome).toMatchObject({ status: 'ok', output: 'approved\n' })
  expect(broken).toEqual(
    expect.arrayContaining(['the hook', 'the sink for call.started', 'the sink for call.completed']),
  )
})
