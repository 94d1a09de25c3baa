import { expect, it, vi } from 'vitest'
import { TestConversation } from '../../../support/environment/test-conversation.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { pollOptions } from '../../../support/poll-options.js'
import { answerResult, code, text, turn } from '../../../support/script.js'
import { tool } from '../../../support/tools.js'

/** Counts the executions of a tool, by the number that its code gives. */
function countedPing(options: { readonly execution?: 'local' } = {}) {
  const pings: number[] = []
  const ping = tool(
    'ping',
    () => {
      pings.push(pings.length)
      return 'pong'
    },
    options,
  )
  return { ping, pings }
}

const manyAtOnce = `
import asyncio
results = await asyncio.gather(*[ping() for _ in range(8)], return_exceptions=True)
print(*[str(result) for result in results], sep="\\n")`

const oneByOne = `
count = 0
for _ in range(8):
    await ping()
    count += 1
print(count)`

type Handle = ReturnType<TestEnvironment['ptc']['handle']>

/** Settles when the run has paused with this number of used calls. */
function waitForPause(handle: Handle, toolCalls: number) {
  return vi.waitUntil(async () => {
    const status = await handle.budget().catch(() => undefined) // the run has not begun yet
    return status?.paused && status.used.toolCalls === toolCalls ? status : undefined
  }, pollOptions)
}

it('concurrent calls of a turn pause at the budget, and exactly as many start as a raise allows', async () => {
  const { ping, pings } = countedPing()
  const env = await TestEnvironment.start({ tools: [ping], script: [turn(code(manyAtOnce)), answerResult] })
  const started = await env.startAgent({ budget: { toolCalls: 3 } })
  const handle = env.ptc.handle(started.workflowId)
  expect(await waitForPause(handle, 3)).toMatchObject({ paused: { item: 'toolCalls' } })
  expect((await handle.tree()).waitsFor).toMatchObject([{ type: 'budget', item: 'toolCalls', amount: 3 }])
  expect(await handle.describe()).toMatchObject({ state: 'paused' })
  expect(pings).toHaveLength(3)
  await handle.budget({ toolCalls: 5 })
  await waitForPause(handle, 5)
  expect(pings).toHaveLength(5)
  await handle.budget({ toolCalls: 20 })
  const answer = Array.from({ length: 8 }, () => 'pong').join('\n')
  expect(await env.agentResult(started)).toMatchObject({ status: 'answered', answer, toolCalls: 8 })
  expect(pings).toHaveLength(8)
  expect(await handle.describe()).toMatchObject({ state: 'completed' })
  await env.expectCleanEnd(started)
})

it('a spent budget that ends the run refuses the calls of a turn, which code may catch', async () => {
  const { ping, pings } = countedPing()
  const env = await TestEnvironment.start({ tools: [ping], script: [turn(code(manyAtOnce)), turn(text('unused'))] })
  const result = await env.runAgent({ budget: { toolCalls: 3, whenSpent: 'end' } })
  expect(result).toMatchObject({ status: 'budget_spent', turns: 1, toolCalls: 3 })
  expect(pings).toHaveLength(3)
  const { turns } = await env.ptc.handle(env.lastRun.workflowId).tree()
  const lines = turns[0]?.cells[0]?.output.trim().split('\n') ?? []
  expect(lines.filter((line) => line === 'pong')).toHaveLength(3)
  expect(lines.filter((line) => line.includes('the budget of 3 tool calls is spent'))).toHaveLength(5)
})

it.each(['local', 'activity'] as const)(
  'calls one after the other pause at the budget too, when they are made by an execution in mode %s',
  async (execution) => {
    const { ping, pings } = countedPing(execution === 'local' ? { execution } : {})
    const env = await TestEnvironment.start({ tools: [ping], script: [turn(code(oneByOne)), answerResult] })
    const started = await env.startAgent({ budget: { toolCalls: 2 } })
    const handle = env.ptc.handle(started.workflowId)
    await waitForPause(handle, 2)
    expect(pings).toHaveLength(2)
    await handle.budget({ toolCalls: null })
    expect(await env.agentResult(started)).toMatchObject({ status: 'answered', answer: '8', toolCalls: 8 })
    await env.expectCleanEnd(started)
  },
)

it('time that a budget bounds ends code between two steps', async () => {
  const sleeps = 'import asyncio\nfor _ in range(20):\n    await asyncio.sleep(2)\nprint("never")'
  const env = await TestEnvironment.start({ script: [turn(code(sleeps)), turn(text('unused'))] })
  const result = await env.runAgent({ budget: { seconds: 3, whenSpent: 'end' } })
  expect(result).toMatchObject({ status: 'budget_spent', turns: 1, cells: 1 })
  const { turns } = await env.ptc.handle(env.lastRun.workflowId).tree()
  expect(turns[0]?.cells[0]?.error).toContain('the budget of 3 seconds is spent')
})

it('a paused call keeps waiting over continue-as-new, and starts once after the raise', async () => {
  const { ping, pings } = countedPing()
  const env = await TestEnvironment.start({
    tools: [ping],
    script: [turn(code(`${oneByOne}\n${manyAtOnce.replaceAll('8', '1')}`)), answerResult],
    limits: { historyEvents: 60 },
  })
  const started = await env.startAgent({ budget: { toolCalls: 8 } })
  const handle = env.ptc.handle(started.workflowId)
  await waitForPause(handle, 8)
  expect((await handle.tree()).runIds.length).toBeGreaterThan(1)
  expect(pings).toHaveLength(8)
  await handle.budget({ toolCalls: 20 })
  expect(await env.agentResult(started)).toMatchObject({ status: 'answered', toolCalls: 9 })
  expect(pings).toHaveLength(9)
  await env.expectCleanEnd(started)
})

it('a conversation that pauses between two steps of code can be interrupted', async () => {
  const sleeps = 'import asyncio\nfor _ in range(20):\n    await asyncio.sleep(2)'
  const talk = await TestConversation.start(
    { script: [turn(code(sleeps)), turn(text('unused'))] },
    { budget: { seconds: 1 } },
  )
  const sent = await talk.conversation.send('1')
  const handle = talk.env.ptc.handle(talk.conversation.workflowId)
  await vi.waitUntil(async () => (await handle.budget().catch(() => undefined))?.paused, pollOptions)
  await talk.conversation.interrupt()
  expect(await sent.answer()).toMatchObject({ status: 'interrupted', turns: 1 })
  await talk.close()
})

it('a run that is cancelled while calls wait for the budget ends', async () => {
  const { ping } = countedPing()
  const env = await TestEnvironment.start({ tools: [ping], script: [turn(code(manyAtOnce)), answerResult] })
  const started = await env.startAgent({ budget: { toolCalls: 1 } })
  const handle = env.ptc.handle(started.workflowId)
  await waitForPause(handle, 1)
  await handle.cancel()
  await expect(handle.result()).rejects.toMatchObject({ code: 'RUN_CANCELLED' })
  await env.expectCleanEnd(started)
})
