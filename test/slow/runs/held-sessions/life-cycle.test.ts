import { setTimeout as delay } from 'node:timers/promises'
import { WorkflowClient, type WorkflowHandle } from '@temporalio/client'
import { expect, it, onTestFinished, vi } from 'vitest'
import { sessionWorkflowId } from '../../../../src/client/sessions/session-name.js'
import type { JsonObject } from '../../../../src/common/json/json.js'
import { nameOfHeldSession } from '../../../../src/common/session/held-sessions.js'
import { defineAgent } from '../../../../src/index.js'
import { heldTool } from '../../../support/environment/bound-conversation.js'
import { resetToCall } from '../../../support/environment/reset.js'
import { TestConversation } from '../../../support/environment/test-conversation.js'
import { TestEnvironment, type TestEnvironmentOptions } from '../../../support/environment/test-environment.js'
import { answerResult, call, text, turn } from '../../../support/script.js'
import { Deferred, tool } from '../../../support/tools.js'

const code = (source: string, more: JsonObject = {}) => call('execute_code', { code: source, ...more })
const inEtl = (source: string) => code(source, { session: 'etl' })

async function start(options: TestEnvironmentOptions, agent: object = {}) {
  const analyst = defineAgent({ name: 'analyst', instructions: 'Analyse.', sessions: ['etl', 'web'], ...agent })
  const env = await TestEnvironment.start({ ...options, agents: [analyst] })
  const run = await env.ptc.startAgent({ agent: 'analyst', question: 'Go.' })
  const handle = env.sessionHandle(run.workflowId, run.workflowId)
  const { runId = '' } = (await handle.describe()) as { readonly runId?: string }
  const name = nameOfHeldSession(runId, 'etl')
  return { env, run, handle, session: env.sessionHandle(name, sessionWorkflowId(env.taskQueue, name)) }
}

async function expectEnded(env: TestEnvironment, ...handles: readonly WorkflowHandle[]): Promise<void> {
  for (const handle of handles) {
    await handle.result().catch(() => undefined)
    await env.expectCleanEnd(handle)
  }
}

/** The text that the model got as the results of its last turn. */
const lastResults = (env: TestEnvironment): string => JSON.stringify(env.lastUserContent())

/** Holds the requests that start sessions. */
function holdStarts() {
  const requested = new Deferred()
  const released = new Deferred()
  const original = Reflect.get(WorkflowClient.prototype, 'start')
  const spy = vi.spyOn(WorkflowClient.prototype, 'start').mockImplementation(async function (
    this: WorkflowClient,
    ...args
  ) {
    if (args[0] === 'session') {
      requested.resolve()
      await released.promise
    }
    return original.apply(this, args)
  })
  onTestFinished(() => spy.mockRestore())
  return { requested, released }
}

it('a session that starts while its run is cancelled ends with the run', async () => {
  const { requested, released } = holdStarts()
  const { env, handle, session } = await start({ script: [turn(inEtl('print(1)')), turn(text('unused'))] })
  await requested.promise
  await handle.cancel()
  // The run must not end before the session has started: nothing would end the session.
  await Promise.race([handle.result().catch(() => undefined), delay(1_000)])
  released.resolve()
  await expect(handle.result()).rejects.toThrow()
  await expectEnded(env, handle, session)
}, 30_000)

it('cells of one reply in one session are executed in order, and a session that is no text is refused', async () => {
  const { env, run, handle, session } = await start({
    script: [
      turn(
        inEtl('x = 1'),
        code('print("own")', { session: {} }),
        inEtl('x += 1\nprint(x)'),
        code('print("own")', { session: null }),
        code('print("own")', { session: 'x'.repeat(3_000) }),
      ),
      turn(text('Done.')),
    ],
  })
  expect(await run.result()).toMatchObject({ status: 'answered' })
  const results = lastResults(env)
  expect(results).toContain('"2')
  expect(results.match(/there is no session/g)).toHaveLength(2)
  expect(results.length).toBeLessThan(2_000)
  await expectEnded(env, handle, session)
}, 30_000)

it('after the end of a session by somebody else, the next code finds a new one with all uploads', async () => {
  const { env, run, handle, session } = await start(
    {
      script: [
        turn(code('import os\nos.makedirs("/tmp/out", exist_ok=True)\nopen("/tmp/out/a", "w").write("shared")')),
        turn(call('share_file', { path: 'a' }), inEtl('x = open("/tmp/in/shared/a").read()\nawait stop()\nprint(x)')),
        turn(inEtl('print(open("/tmp/in/shared/a").read(), "x" in globals())')),
        answerResult,
      ],
      tools: [
        tool('stop', async () => {
          await session.terminate()
          return null
        }),
      ],
    },
    { files: true },
  )
  expect(await run.result()).toMatchObject({ answer: expect.stringMatching(/^shared False\n\(session etl is new/) })
  // Nothing removes the sandbox of a terminated session before the reaper.
  await env.expectCleanEnd(handle)
}, 60_000)

it('calls in all sandboxes count for the limit of the run, and an approval waits in a further one', async () => {
  const { env, run, handle, session } = await start({
    tools: [tool('look', ({ n }) => n), tool('pay', () => 'paid', { approval: 'always' })],
    limits: { callsPerRun: 4 },
    script: [
      turn(code('await look(n=1)')),
      turn(inEtl('await look(n=2)\nprint(await pay())')),
      turn(code('await look(n=3)\ntry:\n    await look(n=4)\nexcept ToolDenied as denied:\n    print(denied)')),
      answerResult,
    ],
  })
  const waits = () => env.ptc.waits({ run: run.workflowId })
  await expect.poll(waits, { timeout: 20_000 }).toMatchObject([{ wait: { type: 'approval', tool: 'pay' } }])
  const wait = (await waits())[0]?.wait
  await env.ptc.approveCall(wait && 'token' in wait ? wait.token : '')
  expect(await run.result()).toMatchObject({ answer: 'the run has used up its 4 tool calls', toolCalls: 4 })
  await expectEnded(env, handle, session)
}, 60_000)

it('after a reset in the middle of a cell, the session serves the run, and ends with it', async () => {
  const calls = [new Deferred(), new Deferred()]
  const released = new Deferred<string>()
  let called = 0
  const hold = tool('hold', () => {
    calls[called]?.resolve()
    called += 1
    return released.promise
  })
  const { env, handle, session } = await start({
    tools: [hold],
    script: [turn(inEtl('n = globals().get("n", 0) + 1\nprint(n, await hold())')), answerResult],
  })
  await calls[0]?.promise
  await resetToCall(env, handle, 'model.turn')
  await calls[1]?.promise
  released.resolve('released')
  const result = await env.client.workflow.getHandle(handle.workflowId).result()
  expect(result).toMatchObject({ status: 'answered', answer: expect.stringContaining('released') })
  await session.result()
}, 60_000)

it('a session that a run has used before a reset ends with the run, though the run does not use it again', async () => {
  const calls = [new Deferred(), new Deferred(), new Deferred()]
  let called = 0
  const hold = tool('hold', () => {
    const number = called++
    calls[number]?.resolve()
    return number === 0 ? null : new Promise(() => undefined)
  })
  const { env, handle, session } = await start({
    tools: [hold],
    script: [turn(code('await hold()')), turn(inEtl('x = 1')), turn(code('await hold()')), turn(text('unused'))],
  })
  await calls[1]?.promise
  await resetToCall(env, handle, 'hold')
  await calls[2]?.promise
  await env.client.workflow.getHandle(handle.workflowId).cancel()
  await session.result()
}, 60_000)

it('a conversation keeps a session over messages, an interruption and continue-as-new, and ends it', async () => {
  const { hold, called } = heldTool()
  const analyst = defineAgent({ name: 'analyst', instructions: 'Analyse.', sessions: ['etl'] })
  const talk = await TestConversation.start(
    {
      tools: [hold],
      agents: [analyst],
      limits: { historyEvents: 100 },
      script: [
        turn(inEtl('x = 1')),
        turn(text('first')),
        turn(inEtl('x = 2\nawait hold()\nx = 3')),
        turn(inEtl('print(x)')),
        answerResult,
      ],
    },
    { agent: 'analyst' },
  )
  const { conversation } = talk
  expect(await conversation.ask('Begin.')).toMatchObject({ answer: 'first' })
  const asked = conversation.ask('Hold.')
  await called
  await conversation.interrupt()
  expect(await asked).toMatchObject({ status: 'interrupted' })
  const executions = async () => (await talk.env.executionHistories(talk.handle)).length
  while ((await executions()) === 1) await talk.handle.signal('no signal of a conversation')
  expect(await conversation.ask('Go on.')).toMatchObject({ answer: '2' })
  const [first] = await talk.env.executionHistories(talk.handle)
  const runId = first?.events[0]?.workflowExecutionStartedEventAttributes?.firstExecutionRunId ?? ''
  const name = nameOfHeldSession(runId, 'etl')
  const session = talk.env.sessionHandle(name, sessionWorkflowId(talk.env.taskQueue, name))
  await talk.close()
  await expectEnded(talk.env, session)
}, 60_000)
