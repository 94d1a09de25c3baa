import { expect, it, vi } from 'vitest'
import { TestConversation } from '../../../support/environment/test-conversation.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { answerResult, call, code, text, turn } from '../../../support/script.js'
import { pollOptions } from '../../../support/poll-options.js'
import { tool } from '../../../support/tools.js'

const ping = tool('ping', () => 'pong')
const script = [turn(code('x = 1\nprint(await ping())')), turn(call('ping')), turn(code('print(x)')), answerResult]

/** Settles when the run has paused. */
function waitForPause(handle: ReturnType<TestEnvironment['ptc']['handle']>) {
  return vi.waitUntil(async () => {
    const status = await handle.budget().catch(() => undefined) // the run has not begun yet
    return status?.paused ? status : undefined
  }, pollOptions)
}

it('a run pauses when its budget is spent, reports why, and continues when it is raised', async () => {
  const env = await TestEnvironment.start({ tools: [ping], script })
  const started = await env.startAgent({ budget: { turns: 1, tokens: 1_000_000 } })
  const handle = env.ptc.handle(started.workflowId)
  expect(await waitForPause(handle)).toMatchObject({
    budget: { turns: 1, tokens: 1_000_000 },
    used: { turns: 1, toolCalls: 1, tokens: expect.any(Number) as number },
    paused: { item: 'turns', since: expect.any(Number) as number },
  })
  expect(env.api.requests).toHaveLength(1)
  const { waitsFor, phase } = await handle.tree()
  expect({ waitsFor, phase }).toEqual({
    waitsFor: [{ type: 'budget', item: 'turns', amount: 1, since: expect.any(Number) as number }],
    phase: { type: 'paused' },
  })
  expect(await handle.describe()).toMatchObject({ status: 'running', state: 'paused' })
  const waits = () => env.ptc.waits()
  await expect.poll(waits).toMatchObject([{ run: { workflowId: handle.workflowId }, wait: { type: 'budget' } }])
  // The response describes the state after the raise.
  expect(await handle.budget({ turns: 2 })).toMatchObject({ budget: { turns: 2 }, paused: null })
  await vi.waitUntil(async () => (await handle.budget()).used.turns === 2, pollOptions)
  await expect(handle.budget({ turns: 0 })).rejects.toMatchObject({ code: 'RUN_INPUT_INVALID' })
  await expect(handle.budget({ trns: 3 } as object)).rejects.toMatchObject({ code: 'RUN_INPUT_INVALID' })
  await waitForPause(handle)
  await handle.budget({ turns: null })
  expect(await env.agentResult(started)).toMatchObject({ status: 'answered', answer: '1', turns: 4 })
  expect(await handle.tree()).toMatchObject({ waitsFor: [], status: 'completed' })
  await expect(handle.budget({ turns: 9 })).rejects.toMatchObject({
    code: 'TEMPORAL_NOT_FOUND',
    message: `run ${handle.workflowId} has already ended (completed)`,
  })
  await expect(env.ptc.handle('nope').budget()).rejects.toThrow('there is no run nope')
  await env.expectCleanEnd(started)
})

it('a run with a budget that ends it returns what it has, and counts calls and time, too', async () => {
  const env = await TestEnvironment.start({ tools: [ping], script, budget: { toolCalls: 2, whenSpent: 'end' } })
  expect(await env.runAgent()).toMatchObject({ status: 'budget_spent', turns: 2, toolCalls: 2 })
  // The amounts of a run replace those of the configuration.
  expect(await env.runAgent({ budget: { toolCalls: 50, seconds: 0.001 } })).toMatchObject({
    status: 'budget_spent',
    turns: 1,
  })
})

it('refuses a budget in US dollars for a model without a known price', async () => {
  const env = await TestEnvironment.start({ script })
  const handle = await env.ptc.startAgent({ question: 'go', budget: { costUsd: 1 } })
  await expect(handle.result()).rejects.toMatchObject({
    code: 'RUN_INPUT_INVALID',
    message: expect.stringContaining('the price of scripted is unknown') as string,
  })
  await expect(env.ptc.startAgent({ question: 'go', budget: { cost: 1 } as object })).rejects.toMatchObject({
    code: 'RUN_INPUT_INVALID',
  })
})

it('a budget bounds a whole conversation, which can be interrupted while it is paused', async () => {
  const talk = await TestConversation.start(
    { script: [turn(text('one')), turn(text('two'))] },
    { budget: { turns: 1 } },
  )
  const { conversation, env } = talk
  const handle = env.ptc.handle(conversation.workflowId)
  expect(await conversation.ask('1')).toMatchObject({ answer: 'one' })
  const second = await conversation.send('2')
  await waitForPause(handle)
  await conversation.interrupt()
  expect(await second.answer()).toMatchObject({ status: 'interrupted', turns: 0 })
  await handle.budget({ turns: 2 })
  expect(await conversation.ask('3')).toMatchObject({ status: 'answered', answer: 'two' })
  await talk.close()
})

it('a run keeps a raised budget over continue-as-new', async () => {
  const loops = turn(
    code('import asyncio\nfor n in range(40):\n    await ping()\n    await asyncio.sleep(0)\nprint("done")'),
  )
  const env = await TestEnvironment.start({
    tools: [ping],
    limits: { historyEvents: 100 },
    script: [turn(call('ping')), loops, answerResult],
    budget: { turns: 1 },
  })
  const started = await env.startAgent()
  const handle = env.ptc.handle(started.workflowId)
  await waitForPause(handle)
  await handle.budget({ turns: 10 })
  expect(await env.agentResult(started)).toMatchObject({ status: 'answered', answer: 'done', turns: 3 })
  expect((await env.executionHistories(started)).length).toBeGreaterThan(1)
  await env.expectCleanEnd(started)
})
