import { expect, it, vi } from 'vitest'
import type { WorkflowHandle } from '@temporalio/client'
import type { ApprovalRequest } from '../../../../src/config/options/approvals.js'
import { defineAgent } from '../../../../src/index.js'
import type { ScriptedTurn } from '../../../../src/testing/index.js'
import type { ScriptedConversation } from '../../../../src/testing/scripted-messages-api/script/script.js'
import { TestConversation } from '../../../support/environment/test-conversation.js'
import { TestEnvironment, type TestEnvironmentOptions } from '../../../support/environment/test-environment.js'
import { TestSession } from '../../../support/environment/test-session.js'
import { fastPollOptions } from '../../../support/poll-options.js'
import { uniqueName } from '../../../support/temporal/shared-server.js'
import { answerResult, call, code, text, turn } from '../../../support/script.js'
import { Deferred, tool } from '../../../support/tools.js'

const about = { instructions: 'You are an agent of a test.', description: 'An agent of a test.' }
const cleaner = defineAgent({ name: 'cleaner', ...about, sandbox: 'parent' })
const chief = defineAgent({ name: 'chief', ...about, agents: [cleaner] })

function answering(question: string, ...turns: readonly ScriptedTurn[]): ScriptedConversation {
  return { match: { firstUserText: { equals: question } }, turns }
}

function start(options: TestEnvironmentOptions, ...conversations: readonly ScriptedConversation[]) {
  return TestEnvironment.start({ backend: 'wasm', agents: [cleaner, chief], ...options, script: { conversations } })
}

async function children(env: TestEnvironment, handle: WorkflowHandle): Promise<WorkflowHandle[]> {
  const { events } = await env.history(handle)
  return events.flatMap(({ startChildWorkflowExecutionInitiatedEventAttributes: initiated }) =>
    initiated?.workflowId ? [env.client.workflow.getHandle(initiated.workflowId)] : [],
  )
}

it('a sub-agent and the agent that starts it see the same variables', async () => {
  const env = await start(
    { tools: [tool('ping', () => 'pong')] },
    answering(
      'go',
      turn(code('rows = [3, 1, 2]')),
      turn(call('cleaner', { task: 'sort rows' })),
      turn(code('print(rows, note)')),
      answerResult,
    ),
    answering('sort rows', turn(code('rows.sort()\nnote = await ping()\nprint(len(rows))')), answerResult),
  )
  const handle = await env.startAgent({ agent: 'chief' })
  const result = await env.agentResult(handle)
  expect(result).toMatchObject({ status: 'answered', answer: '[1, 2, 3] pong', turns: 4 })
  // The cell and the call of the sub-agent belong to the session.
  expect(result).toMatchObject({ cells: 3, toolCalls: 2, subagents: { runs: 1, turns: 2, cells: 1, toolCalls: 0 } })
  const [child] = await children(env, handle)
  if (!child) throw new Error('there is no child')
  const tree = await env.ptc.handle(child.workflowId).tree()
  expect(tree.turns[0]?.cells).toMatchObject([
    { status: 'ok', output: '3\n', owner: { workflowId: handle.workflowId } },
  ])
  expect(JSON.stringify(env.api.requests[2]?.body)).toContain('The sandbox is that of the agent that gave you the task')
  for (const each of [handle, child]) await env.expectCleanEnd(each)
})

it('cells of several sub-agents and of the agent run one after the other, also with one slot for calls', async () => {
  const add = 'before = total\nawait ping()\ntotal = before + 1'
  const env = await start(
    { tools: [tool('ping', () => 'pong')], limits: { callsInFlight: 1 } },
    answering(
      'go',
      turn(code('total = 0')),
      turn(code(add), call('cleaner', { task: 'a' }), call('cleaner', { task: 'b' }), code(add)),
      turn(code('print(total)')),
      answerResult,
    ),
    answering('a', turn(code(add)), turn(text('done'))),
    answering('b', turn(code(add)), turn(text('done'))),
  )
  expect(await env.runAgent({ agent: 'chief' })).toMatchObject({ answer: '4', cells: 6, toolCalls: 6 })
})

it('an agent continues as new only when no sub-agent uses its sandbox', async () => {
  const loop = (name: string) =>
    `import asyncio\n${name} = 0\nfor n in range(12):\n    ${name} += await ping(n=n)\n    await asyncio.sleep(0)`
  const env = await start(
    { tools: [tool('ping', () => 1, { effect: 'once' })], limits: { historyEvents: 100 } },
    answering(
      'go',
      turn(code(loop('own')), call('cleaner', { task: 'count' })),
      turn(code('print(own, shared)')),
      answerResult,
    ),
    answering('count', turn(code(loop('shared'))), turn(text('done'))),
  )
  const handle = await env.startAgent({ agent: 'chief' })
  expect(await env.agentResult(handle)).toMatchObject({ answer: '12 12', subagents: { runs: 1 } })
  expect((await env.executionHistories(handle)).length).toBeGreaterThan(1)
  await env.expectCleanEnd(handle)
})

it("code can't call a sub-agent with a shared sandbox, and foreign sandboxes are refused", async () => {
  const env = await start(
    {},
    answering('go', turn(code('await cleaner(task="x")')), answerResult),
    answering('hosted', turn(text('unused'))),
  )
  expect((await env.runAgent({ agent: 'chief' })).answer).toContain("name 'cleaner' is not defined")
  const hosted = await env.startAgent({ question: 'hosted', agent: 'chief', sandbox: 'anthropic' })
  await expect(hosted.result()).rejects.toMatchObject({ cause: { cause: { type: 'RUN_INPUT_INVALID' } } })
  const bound = { workflowId: uniqueName('bound'), key: 'k' }
  const input = { lease: { key: 'k', amounts: {} }, sandboxOwner: bound } as object
  const own = await env.startAgent({ question: 'hosted', ...input }, { workflowId: bound.workflowId })
  await expect(own.result()).rejects.toMatchObject({ cause: { cause: { message: /bound to its own sandbox/ } } })
})

it('sub-agents of a sub-agent share the same sandbox, and so does one of a run in a named session', async () => {
  const helper = defineAgent({ name: 'helper', ...about, agents: [cleaner], sandbox: 'parent' })
  const boss = defineAgent({ name: 'boss', ...about, agents: [helper] })
  const turns = [
    answering('go', turn(call('helper', { task: 'h' })), turn(code('print(x)')), answerResult),
    answering('h', turn(code('x = 1')), turn(call('cleaner', { task: 'c' })), turn(text('done'))),
    answering('c', turn(code('x += 1')), turn(text('done'))),
  ]
  const env = await start({ agents: [cleaner, helper, boss] }, ...turns)
  expect(await env.runAgent({ agent: 'boss' })).toMatchObject({ answer: '2' })
  const session = TestSession.create(env, uniqueName('books'))
  expect(await env.runAgent({ agent: 'boss', session: session.name })).toMatchObject({ answer: '2' })
  expect(await session.outputOf('print(x)')).toBe('2\n')
  await session.close()
})

it("asks for the approval of a sub-agent's calls in a shared sandbox, and an interruption stops its code", async () => {
  const requests: ApprovalRequest[] = []
  const held = new Deferred()
  const pay = tool('pay', () => 'paid', { effect: 'once', approval: 'always' })
  const hold = tool('hold', async (_input, { signal }) => {
    held.resolve()
    await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
    return null
  })
  const talk = await TestConversation.start(
    {
      backend: 'wasm',
      agents: [cleaner, chief],
      tools: [pay, hold],
      approvals: { onRequest: (request) => void requests.push(request) },
      script: {
        conversations: [
          answering(
            'Clean.',
            turn(call('cleaner', { task: 'pay' })),
            answerResult,
            turn(call('cleaner', { task: 'hold' })),
            turn(code('print(x)')),
            answerResult,
          ),
          answering('pay', turn(code('x = await pay()\nprint(x)')), answerResult),
          answering('hold', turn(code('x = "begun"\nawait hold()')), turn(text('unused'))),
        ],
      },
    },
    { agent: 'chief' },
  )
  const { conversation, env } = talk
  const first = conversation.ask('Clean.')
  await vi.waitUntil(() => requests.length === 1, fastPollOptions)
  const [child] = await children(env, talk.handle)
  const waitsOf = async (run = '') => (await env.ptc.waits({ run })).map(({ wait }) => wait)
  const waiting = { tool: 'pay', token: requests[0]?.token }
  await expect.poll(() => waitsOf(child?.workflowId)).toMatchObject([waiting])
  expect(await waitsOf(conversation.workflowId)).toMatchObject([waiting])
  await env.ptc.approveCall(waiting.token ?? '')
  expect(await first).toMatchObject({ answer: 'paid' })
  const second = conversation.ask('Hold.')
  await held.promise
  await conversation.interrupt()
  expect(await second).toMatchObject({ status: 'interrupted' })
  expect(await conversation.ask('What is x?')).toMatchObject({ answer: 'begun' })
  await talk.close()
  for (const each of await children(env, talk.handle)) await each.result().catch(() => undefined)
  for (const each of await children(env, talk.handle)) await env.expectCleanEnd(each)
})
