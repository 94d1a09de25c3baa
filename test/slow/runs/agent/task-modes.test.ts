import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineAgent } from '../../../../src/index.js'
import { TestConversation } from '../../../support/environment/test-conversation.js'
import { requestMessages, TestEnvironment } from '../../../support/environment/test-environment.js'
import { call, code, text, turn } from '../../../support/script.js'
import { Deferred, tool } from '../../../support/tools.js'

const instructions = 'You fix.'
const output = z.object({ total: z.int() })
const ping = tool('ping', () => 'pong')

/** The last message of each request, as the model got it. */
function lastMessages(env: TestEnvironment): readonly string[] {
  return env.api.requests.map(({ body }) => JSON.stringify(requestMessages(body).at(-1)?.content))
}

it('mode single-turn: the answer is what the only code of the model prints, and what its calls return', async () => {
  const script = [turn(text('I add them up.'), code('print(len(await ping()))'), call('ping'))]
  const env = await TestEnvironment.start({ tools: [ping], script })
  expect(await env.runAgent({ mode: 'single-turn' })).toMatchObject({
    status: 'answered',
    answer: '4\n\npong',
    turns: 1,
    cells: 1,
    toolCalls: 2,
  })
  expect(env.api.requests).toHaveLength(1)
})

it('mode single-turn: the only request of an agent with many tools has their complete documentation', async () => {
  const pong = tool('pong', () => 'ping', { allowedCallers: ['direct'] })
  const script = [turn(code('print(await ping(), end="")'))]
  const env = await TestEnvironment.start({ tools: [ping, pong], script, model: { documentedTools: 1 } })
  expect(await env.runAgent({ mode: 'single-turn' })).toMatchObject({ status: 'answered', answer: 'pong', turns: 1 })
  expect(env.api.requests[0]?.body).toMatchObject({
    tools: [
      { name: 'execute_code', description: expect.stringContaining('async def ping(') as string },
      { name: 'pong' },
    ],
  })
})

it('mode single-turn: a run continues as new while its code waits, and then ends', async () => {
  const pings = 'for n in range(4): last = await asyncio.gather(*(ping() for _ in range(12)))'
  const script = [turn(code(`${pings}\nprint(last[0])`))]
  const env = await TestEnvironment.start({ tools: [ping], script, limits: { historyEvents: 100 } })
  const handle = await env.startAgent({ mode: 'single-turn' })
  expect(await env.agentResult(handle)).toMatchObject({ status: 'answered', answer: 'pong', turns: 1, toolCalls: 48 })
  expect((await env.executionHistories(handle)).length).toBeGreaterThan(1)
  await env.expectCleanEnd(handle)
})

it('mode single-turn: a failed call has its own status', async () => {
  const fail = tool('fail', () => Promise.reject(new Error('closed')), { retry: { attempts: 1 } })
  const env = await TestEnvironment.start({ tools: [fail], script: [turn(call('fail'))] })
  const result = await env.runAgent({ mode: 'single-turn' })
  expect(result).toMatchObject({ status: 'tool_error', turns: 1 })
  expect(result.answer).toContain('closed')
})

it('mode single-turn: the only reply of an agent with an output schema must have the answer', async () => {
  const env = await TestEnvironment.start({
    agents: [defineAgent({ name: 'reader', instructions, output, mode: 'single-turn' })],
    script: [
      { ...turn(call('submit_answer', { total: 3 })), match: { lastUserText: 'answer' } },
      { ...turn(call('submit_answer', { total: 'x' })), match: { lastUserText: 'wrong' } },
      { ...turn(text('Three.')), match: { lastUserText: 'talk' } },
      { ...turn(code('print(3)')), match: { lastUserText: 'code' } },
    ],
  })
  const run = (question: string) => env.runAgent({ agent: 'reader', question })
  expect(await run('answer')).toMatchObject({ status: 'answered', output: { total: 3 }, turns: 1 })
  for (const question of ['wrong', 'talk', 'code'])
    expect(await run(question)).toMatchObject({ status: 'invalid_answer', turns: 1, cells: 0 })
})

it('mode autonomous: a text ends the work only when it replaces an answer too often, or the budget is spent', async () => {
  const script = [
    turn(text('I begin.')),
    turn(text('I go on.')),
    turn(call('ping')),
    turn(text('Nearly.')),
    turn(text('Very nearly.')),
    turn(call('submit_answer', { answer: 'All done.' })),
  ]
  const talk = { match: { firstUserText: 'talk' }, turns: ['One.', 'Two.', 'Three.'].map((each) => turn(text(each))) }
  const env = await TestEnvironment.start({ tools: [ping], script: { conversations: [talk, { turns: script }] } })
  const result = await env.runAgent({ mode: 'autonomous' })
  // The work in between resets the count: the third text counts as the first one again.
  expect(result).toMatchObject({ status: 'answered', answer: 'All done.', turns: 6 })
  expect(result).not.toHaveProperty('output')
  expect(lastMessages(env)[1]).toContain('Nobody reads this text')

  expect(await env.runAgent({ question: 'talk', mode: 'autonomous' })).toMatchObject({
    status: 'no_answer',
    answer: 'Three.',
    turns: 3,
  })
  const budget = { turns: 2, whenSpent: 'end' } as const
  expect(await env.runAgent({ mode: 'autonomous', budget })).toMatchObject({ status: 'budget_spent', turns: 2 })
})

it('mode autonomous: a tool checks that the work is done, and the model continues with its reason', async () => {
  let checks = 0
  const checked = tool(
    'is_done',
    ({ answer }) => {
      checks += 1
      if (checks === 1) throw new Error('no connection')
      return checks === 2
        ? { done: false, reason: `${JSON.stringify(answer)} lacks ${'x'.repeat(5_000)}` }
        : { done: true }
    },
    {
      input: z.object({ answer: output }),
      output: z.object({ done: z.boolean(), reason: z.string().optional() }),
      retry: { attempts: 1 },
    },
  )
  const submit = (total: number) => turn(call('submit_answer', { total }))
  const env = await TestEnvironment.start({
    tools: [checked],
    agents: [defineAgent({ name: 'fixer', instructions, output, mode: 'autonomous', doneCheck: checked })],
    script: [submit(1), submit(2), submit(3)],
  })
  const handle = await env.startAgent({ agent: 'fixer' })
  const result = await env.agentResult(handle)
  expect(result).toMatchObject({ status: 'answered', output: { total: 3 }, turns: 3, toolCalls: 3 })
  const [, afterFailure, afterRefusal] = lastMessages(env)
  expect(afterFailure).toContain('could not be checked: [tool_error]')
  expect(afterRefusal).toContain('The work is not done: {\\"total\\":2} lacks xxx')
  const tree = await env.ptc.handle(handle.workflowId).tree()
  expect(tree.turns.map(({ directCalls }) => directCalls.map((each) => each.tool))).toEqual(
    Array.from({ length: 3 }, () => ['is_done']),
  )
  await env.expectCleanEnd(handle)
})

it('mode autonomous: a run that is cancelled during the check ends', async () => {
  const checking = new Deferred()
  const slow = tool(
    'is_done',
    (_input, { signal }) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
        checking.resolve()
      }),
    { output: z.object({ done: z.boolean() }) },
  )
  const env = await TestEnvironment.start({
    tools: [slow],
    agents: [defineAgent({ name: 'fixer', instructions, mode: 'autonomous', doneCheck: 'is_done' })],
    script: [turn(call('submit_answer', { answer: 'Done.' }))],
  })
  const handle = await env.startAgent({ agent: 'fixer' })
  await checking.promise
  await handle.cancel()
  await expect(env.ptc.handle(handle.workflowId).result()).rejects.toMatchObject({ code: 'RUN_CANCELLED' })
  await env.expectCleanEnd(handle)
})

it('mode autonomous: giving up is a status of the result, the list of runs and search attributes', async () => {
  const script = [turn(call('give_up', {})), turn(call('give_up', { reason: 'The service is closed.' }))]
  const env = await TestEnvironment.start({ script })
  const handle = await env.startAgent({ mode: 'autonomous' })
  expect(await env.agentResult(handle)).toMatchObject({
    status: 'gave_up',
    answer: 'The service is closed.',
    turns: 2,
  })
  const { memo, typedSearchAttributes } = await handle.describe()
  expect(memo).toMatchObject({ outcome: 'gave_up' })
  expect(typedSearchAttributes.getAll().find(({ key }) => key.name === 'PtcStatus')?.value).toBe('gave_up')
  await env.expectCleanEnd(handle)
})

it('an unknown mode is refused at the start, and a conversation refuses an agent with one', async () => {
  const agents = [defineAgent({ name: 'fixer', instructions, mode: 'autonomous' })]
  const env = await TestEnvironment.start({ agents, script: [turn(text('unused'))] })
  await expect(env.ptc.startAgent({ question: 'go', mode: 'auto' as never })).rejects.toMatchObject({
    code: 'RUN_INPUT_INVALID',
  })
  const handle = await env.startAgent({ mode: 'auto' as never })
  await expect(env.ptc.handle(handle.workflowId).result()).rejects.toMatchObject({ code: 'RUN_INPUT_INVALID' })
  const talk = await TestConversation.start({ agents, script: [turn(text('unused'))] }, { agent: 'fixer' })
  await expect(talk.conversation.ask('Hello?')).rejects.toMatchObject({
    code: 'RUN_INPUT_INVALID',
    message: expect.stringContaining('mode autonomous') as string,
  })
})
