import { expect, it, vi } from 'vitest'
import { z } from 'zod'
import type { WorkflowHandle } from '@temporalio/client'
import { waitForAbort } from '../../../../src/common/async/abort.js'
import { defineAgent } from '../../../../src/index.js'
import type { ScriptedTurn } from '../../../../src/testing/index.js'
import type { ScriptedConversation } from '../../../../src/testing/scripted-messages-api/script/script.js'
import { TestConversation } from '../../../support/environment/test-conversation.js'
import { resetToCall } from '../../../support/environment/reset.js'
import { TestEnvironment, type TestEnvironmentOptions } from '../../../support/environment/test-environment.js'
import { pollOptions } from '../../../support/poll-options.js'
import { answerResult, call, code, faulty, text, turn } from '../../../support/script.js'
import { Deferred, tool } from '../../../support/tools.js'

const about = { instructions: 'You are an agent of a test.', description: 'An agent of a test.' }
const researcher = defineAgent({ name: 'researcher', ...about, tools: [] })
const ping = tool('ping', () => 'pong')

/** The agent that starts the others. */
function chief(...agents: readonly { readonly name: string }[]) {
  return defineAgent({ name: 'chief', ...about, agents })
}

/** The turns of the agent with this question or task. */
function answering(question: string, ...turns: readonly ScriptedTurn[]): ScriptedConversation {
  return { match: { firstUserText: { equals: question } }, turns }
}

function start(options: TestEnvironmentOptions, ...conversations: readonly ScriptedConversation[]) {
  return TestEnvironment.start({ ...options, script: { conversations } })
}

const attempt = `
async def attempt(call):
    try:
        return await call
    except Exception as error:
        return f"{type(error).__name__}: {error}"
`

/** The children of a run, in the order of their start. */
async function children(env: TestEnvironment, handle: WorkflowHandle): Promise<WorkflowHandle[]> {
  const { events } = await env.history(handle)
  return (events ?? []).flatMap(({ startChildWorkflowExecutionInitiatedEventAttributes: initiated }) =>
    initiated?.workflowId ? [env.client.workflow.getHandle(initiated.workflowId)] : [],
  )
}

it('code runs two sub-agents at once, with typed answers, and the run counts their usage', async () => {
  const whoami = tool('whoami', (_input, { context, run }) => `${JSON.stringify(context)} ${run.agent ?? ''}`)
  const analyst = defineAgent({ name: 'analyst', ...about, tools: [whoami], output: z.object({ total: z.int() }) })
  const source = `
import asyncio
first, second = await asyncio.gather(researcher(task="rivers"), analyst(task="sums"))
print(first, second["total"] + 1)`
  const env = await start(
    { tools: [whoami], agents: [researcher, analyst, chief(researcher, analyst)] },
    answering('go', turn(code(source)), answerResult),
    answering('rivers', turn(text('The Rhine.'))),
    answering('sums', turn(code('print(await whoami())')), turn(call('submit_answer', { total: 41 }))),
  )
  const handle = await env.startAgent({ agent: 'chief', context: { tenant: 'acme' } })
  const result = await env.agentResult(handle)

  expect(result).toMatchObject({ status: 'answered', answer: 'The Rhine. 42', turns: 2, cells: 1, toolCalls: 2 })
  expect(result.subagents).toEqual({ runs: 2, turns: 3, cells: 1, toolCalls: 1 })
  const started = await children(env, handle)
  const results = await Promise.all(started.map((child) => env.agentResult(child)))
  const tree = await env.ptc.handle(handle.workflowId).tree()
  const own = tree.turns.flatMap(({ model }) => (model?.status === 'ok' ? [model.usage.outputTokens] : []))
  const all = [...own, ...results.map(({ usage }) => usage.outputTokens)]
  expect(result.usage.outputTokens).toBe(all.reduce((sum, tokens) => sum + tokens, 0))
  expect(tree.totals.subagents).toEqual(result.subagents)
  expect(tree.turns[0]?.cells[0]?.calls).toMatchObject([
    { tool: 'researcher', status: 'ok', arguments: { task: 'rivers' }, resultPreview: '"The Rhine."' },
    { tool: 'analyst', status: 'ok', arguments: { task: 'sums' }, resultPreview: '{"total":41}' },
  ])
  expect(tree.turns[0]?.cells[0]?.calls.map(({ workflowId }) => workflowId)).toEqual(
    started.map(({ workflowId }) => workflowId),
  )
  expect(JSON.stringify(env.api.requests.map(({ body }) => body))).toMatch(/acme[^ ]* analyst/)
  for (const each of [handle, ...started]) await env.expectCleanEnd(each)
})

it('the model starts a sub-agent directly, which has no sub-agents without `agents`', async () => {
  const writer = defineAgent({ name: 'writer', ...about, tools: [] })
  const env = await start(
    { agents: [researcher, writer, chief(researcher, writer)] },
    answering('go', turn(call('researcher', { task: 'rivers' })), answerResult),
    answering('rivers', turn(code('await writer(task="x")')), answerResult),
  )
  const { answer, subagents } = await env.runAgent({ agent: 'chief' })
  expect(answer).toContain("name 'writer' is not defined")
  expect(subagents).toMatchObject({ runs: 1, turns: 2 })
  const sent = env.api.requests.map(({ body }) => (body as { readonly tools: readonly { name: string }[] }).tools)
  expect(sent.map((tools) => tools.map(({ name }) => name))).toEqual([
    ['execute_code', 'researcher', 'writer', 'read_more'],
    ['execute_code', 'read_more'],
    ['execute_code', 'read_more'],
    ['execute_code', 'researcher', 'writer', 'read_more'],
  ])
})

it('a sub-agent that does not answer is a ToolError with the reason, and its usage counts', async () => {
  const short = defineAgent({ name: 'short', ...about, tools: [], limits: { turns: 1 } })
  const refused = { type: 'status', attempt: 'every', status: 401 } as const
  const source = `${attempt}
print(await attempt(short(task="too much")))
print(await attempt(researcher(task="no model")))
print(await attempt(researcher(task="")))`
  const env = await start(
    { agents: [researcher, short, chief(researcher, short)] },
    answering('go', turn(code(source)), answerResult),
    answering('too much', turn(text('I begin.'), code('1'))),
    answering('no model', faulty([refused], turn(text('unused')))),
  )
  const { answer, subagents } = await env.runAgent({ agent: 'chief' })
  expect(answer.split('\n').slice(0, 2)).toEqual([
    'ToolError: short ended as turn_limit: it has taken all its turns. Its last text: I begin.',
    expect.stringMatching(/^ToolError: researcher: MODEL_AUTH: /),
  ])
  expect(answer.split('\n')[2]).toMatch(/^\w+: /)
  expect(subagents).toMatchObject({ runs: 2, turns: 2, cells: 1 })
  const tree = await env.ptc.handle(env.lastRun.workflowId).tree()
  expect(tree.turns[0]?.cells[0]?.calls.map(({ status }) => status)).toEqual([
    'tool_error',
    'tool_error',
    'invalid_arguments',
  ])
})

/** A tool that runs until it is cancelled. */
function blockingTool() {
  const called = new Deferred()
  const wait = tool('wait', async (_input, { signal }) => {
    called.resolve()
    await waitForAbort(signal)
    throw signal.reason
  })
  return { wait, called: called.promise }
}

const waiter = defineAgent({ name: 'waiter', ...about, tools: ['wait'] })
const waits = answering('wait', turn(code('await wait()')), turn(text('unused')))

it('a sub-agent is cancelled with its parent, which shows meanwhile which run it waits for', async () => {
  const { wait, called } = blockingTool()
  const env = await start(
    { tools: [wait], agents: [waiter, chief(waiter)] },
    answering('go', turn(call('waiter', { task: 'wait' }))),
    waits,
  )
  const handle = await env.startAgent({ agent: 'chief' })
  await called
  const [child] = await children(env, handle)
  if (!child) throw new Error('no child was started')
  expect(await env.ptc.handle(handle.workflowId).tree()).toMatchObject({
    turns: [{ directCalls: [{ tool: 'waiter', status: 'running', workflowId: child.workflowId }] }],
  })
  await handle.cancel()
  await expect(handle.result()).rejects.toThrow()
  await expect.poll(async () => (await child.describe()).status.name, pollOptions).toBe('CANCELLED')
  await env.expectCleanEnd(child)
})

it('a sub-agent is cancelled with the code that waits for it, and the conversation counts its usage', async () => {
  const { wait, called } = blockingTool()
  const talk = await TestConversation.start(
    {
      tools: [wait],
      agents: [waiter, chief(waiter)],
      script: {
        conversations: [
          { match: { firstUserText: 'Begin.' }, turns: [turn(code('await waiter(task="wait")')), answerResult] },
          waits,
        ],
      },
    },
    { agent: 'chief', budget: { turns: 10 } },
  )
  const first = talk.conversation.ask('Begin.')
  await called
  const handle = talk.env.ptc.handle(talk.conversation.workflowId)
  expect((await handle.budget()).used.turns).toBe(1 + 5)
  await talk.conversation.interrupt('code')
  expect((await first).answer).toMatch(/Interrupted: the code was stopped/)
  // One turn of the sub-agent, and two of the conversation.
  await vi.waitUntil(async () => (await handle.budget()).used.turns === 3, pollOptions)
  await talk.close()
})

it('concurrent sub-agents have leases within the budget, and end when these are spent', async () => {
  const pinger = defineAgent({ name: 'pinger', ...about, tools: [ping] })
  const loops = Array.from({ length: 8 }, () => turn(call('ping')))
  const source = `${attempt}
import asyncio
results = await asyncio.gather(*[attempt(pinger(task=f"task {n}")) for n in range(4)])
print("\\n".join(results))`
  const env = await start(
    { tools: [ping], agents: [pinger, chief(pinger)], budget: { turns: 9 } },
    answering('go', turn(code(source)), answerResult),
    ...[0, 1, 2, 3].map((n) => answering(`task ${n}`, ...loops)),
  )
  const handle = await env.startAgent({ agent: 'chief', budget: { turns: 8, whenSpent: 'end' } })
  const result = await env.agentResult(handle)
  // The parent has used one of 8 turns: the leases are 4, 2 and 1 turns, and the fourth sub-agent gets none.
  const started = await children(env, handle)
  expect(await Promise.all(started.map(async (child) => (await env.agentResult(child)).turns))).toEqual([4, 2, 1])
  expect(result).toMatchObject({ status: 'budget_spent', turns: 1, subagents: { runs: 3, turns: 7 } })
  const tree = await env.ptc.handle(handle.workflowId).tree()
  const output = tree.turns[0]?.cells[0]?.output.trimEnd().split('\n')
  expect(output).toEqual([
    ...Array.from({ length: 3 }, () => 'ToolError: pinger ended as budget_spent: it has used its budget.'),
    'ToolDenied: pinger: the budget of 8 turns is spent',
  ])
})

it("a sub-agent has a budget that can't be raised, and that counts as used after a termination", async () => {
  const { wait, called } = blockingTool()
  const env = await start(
    { tools: [wait], agents: [waiter, chief(waiter)] },
    answering('go', turn(call('waiter', { task: 'wait directly' })), answerResult),
    answering('wait directly', turn(call('wait'))),
  )
  const handle = await env.startAgent({ agent: 'chief', budget: { turns: 5 } })
  await called
  const [child] = await children(env, handle)
  const childRun = env.ptc.handle(child?.workflowId ?? '')
  expect(await childRun.budget()).toMatchObject({ budget: { turns: 2, whenSpent: 'end' } })
  await expect(childRun.budget({ turns: 50 })).rejects.toMatchObject({ code: 'RUN_INPUT_INVALID' })
  await child?.terminate()
  expect((await env.agentResult(handle)).answer).toBe('[tool_error] waiter: it was terminated')
  expect((await env.ptc.handle(handle.workflowId).budget()).used.turns).toBe(2 + 2)
})

it('a sub-agent starts once when the sandbox of its parent is rebuilt', async () => {
  const called = new Deferred()
  const opened = new Deferred()
  const gate = tool('gate', async () => {
    called.resolve()
    await opened.promise
    return null
  })
  const source = 'answer = await researcher(task="rivers")\nawait gate()\nprint(answer)'
  const env = await start(
    { tools: [gate], agents: [researcher, chief(researcher)] },
    answering('go', turn(code(source)), answerResult),
    answering('rivers', turn(text('The Rhine.'))),
  )
  const handle = await env.startAgent({ agent: 'chief' })
  await called.promise
  await env.killContainers(handle)
  opened.resolve()
  expect(await env.agentResult(handle)).toMatchObject({ answer: 'The Rhine.', subagents: { runs: 1 } })
  expect(await children(env, handle)).toHaveLength(1)
  await env.expectCleanEnd(handle)
})

it.each([['analist', 'AGENT_UNKNOWN']])('a configuration with the sub-agent %s is refused', async (name, errorCode) => {
  const agents = [researcher, defineAgent({ name: 'chief', ...about, agents: [name] })]
  await expect(TestEnvironment.start({ agents })).rejects.toMatchObject({ code: errorCode })
})

it('F31: a sub-agent that a reset of its parent starts again makes its calls with the same idempotency keys', async () => {
  const keys: string[] = []
  const charge = tool('charge', (_input, { idempotencyKey }) => keys.push(idempotencyKey), { effect: 'idempotent' })
  const look = tool('look', (_input, { idempotencyKey }) => keys.push(idempotencyKey), { execution: 'local' })
  const clerk = defineAgent({ name: 'clerk', ...about, tools: [charge, look] })
  const env = await start(
    { tools: [ping, charge, look], agents: [clerk, chief(clerk)] },
    answering('go', turn(code('await ping()\nprint(await clerk(task="pay"))')), answerResult),
    answering('pay', turn(code('await charge(n=1)\nawait look()')), turn(call('charge', { n: 2 })), turn(text('paid'))),
  )
  const handle = await env.startAgent({ agent: 'chief' })
  await handle.result()
  await resetToCall(env, handle, 'ping')
  const again = env.client.workflow.getHandle(handle.workflowId)
  expect(await env.agentResult(again)).toMatchObject({ status: 'answered', answer: 'paid', subagents: { runs: 1 } })
  expect(keys).toHaveLength(6)
  expect(keys.slice(3)).toEqual(keys.slice(0, 3))
  await env.expectCleanEnd(again)
})
