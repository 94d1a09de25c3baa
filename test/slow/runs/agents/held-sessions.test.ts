import { describe, expect, it, vi } from 'vitest'
import type { WorkflowHandle } from '@temporalio/client'
import type { ApprovalRequest } from '../../../../src/config/options/approvals.js'
import { defineAgent } from '../../../../src/index.js'
import type { ScriptedTurn } from '../../../../src/testing/index.js'
import { heldTool } from '../../../support/environment/bound-conversation.js'
import { TestConversation } from '../../../support/environment/test-conversation.js'
import { TestEnvironment, type TestEnvironmentOptions } from '../../../support/environment/test-environment.js'
import { fastPollOptions } from '../../../support/poll-options.js'
import { answerResult, call, text, turn } from '../../../support/script.js'
import { tool } from '../../../support/tools.js'

const agent = defineAgent({ name: 'analyst', instructions: 'You analyse.', sessions: ['etl', 'web'] })

const code = (source: string, session?: unknown) =>
  call('execute_code', { code: source, ...(session !== undefined && { session: session as string }) })

function start(script: readonly ScriptedTurn[], options: TestEnvironmentOptions = {}) {
  return TestEnvironment.start({ backend: 'wasm', agents: [agent], script, ...options })
}

/** The workflows of the sessions that a run has used. */
async function sessionsOf(env: TestEnvironment, { workflowId }: WorkflowHandle): Promise<readonly WorkflowHandle[]> {
  const { turns } = await env.ptc.handle(workflowId).tree()
  const owners = turns.flatMap(({ cells }) => cells).flatMap(({ owner }) => owner?.workflowId ?? [])
  return [...new Set(owners)].map((id) => env.sessionHandle(id, id))
}

interface SentRequest {
  readonly messages: readonly {
    readonly content: string | readonly { readonly type: string; readonly content?: string }[]
  }[]
  readonly tools: readonly {
    readonly name: string
    readonly description: string
    readonly input_schema: { readonly properties: Readonly<Record<string, unknown>> }
  }[]
}

function lastRequest({ api }: TestEnvironment): SentRequest {
  const request = api.requests.at(-1)
  if (!request) throw new Error('the model was not asked')
  return request.body as SentRequest
}

/** The texts of the results that the model got. */
function results(env: TestEnvironment): readonly string[] {
  return lastRequest(env).messages.flatMap(({ content }) =>
    typeof content === 'string'
      ? []
      : content.flatMap((each) => (each.type === 'tool_result' ? [each.content ?? ''] : [])),
  )
}

const isNew = (name: string) => `(session ${name} is new: it has no variables of earlier code.)`

it('sandboxes of one run have variables of their own, call its tools, and end with it', async () => {
  const script = [
    turn(code('x = "own"')),
    turn(code('x = await ping()\nprint(x)', 'etl'), code('print("x" in globals())', 'web')),
    turn(code('print(x)', 'etl'), code('print(x)')),
    answerResult,
  ]
  const env = await start(script, { tools: [tool('ping', () => 'pong')] })
  const handle = await env.startAgent({ agent: 'analyst' })
  expect(await env.agentResult(handle)).toMatchObject({ status: 'answered', answer: 'own', cells: 5, toolCalls: 1 })
  expect(results(env)).toEqual([
    '(no output: print what you need to see)',
    `pong\n${isNew('etl')}`,
    `False\n${isNew('web')}`,
    'pong',
    'own',
  ])
  const sessions = await sessionsOf(env, handle)
  expect(sessions).toHaveLength(2)
  for (const each of sessions) expect(await each.result()).toMatchObject({ ended: 'closed' })
  for (const each of [handle, ...sessions]) await env.expectCleanEnd(each)
})

it('the prompt names the sandboxes, and every tool that may name one has the argument', async () => {
  const env = await start([turn(text('done'))])
  await env.runAgent({ agent: 'analyst' })
  const { tools } = lastRequest(env)
  const executeCode = tools.find(({ name }) => name === 'execute_code')
  expect(executeCode?.input_schema.properties).toMatchObject({ session: { enum: ['etl', 'web'] } })
  expect(executeCode?.description).toContain('- `etl`: Python, as in your own.')
})

it('a name of no sandbox, and a language that a sandbox lacks, are results for the model', async () => {
  const script = [
    turn(code('1', 'nowhere'), code('1', { a: 1 }), code('1', 'constructor')),
    turn(call('execute_code', { code: '1', session: 'etl', language: 'ruby' })),
    answerResult,
  ]
  const env = await start(script)
  await env.runAgent({ agent: 'analyst' })
  expect(results(env)).toEqual([
    'there is no session "nowhere" here: only etl, web',
    'there is no session "{\\"a\\":1}" here: only etl, web',
    'there is no session "constructor" here: only etl, web',
    'there is no language "ruby" here, only python',
  ])
})

it('calls in all sandboxes count towards the limit of the run', async () => {
  const script = [
    turn(code('print(await ping())', 'etl')),
    turn(code('print(await ping())', 'web')),
    turn(code('print(await ping())', 'etl')),
    answerResult,
  ]
  const env = await start(script, { tools: [tool('ping', () => 'pong')] })
  const handle = await env.startAgent({ agent: 'analyst', limits: { callsPerRun: 2 } })
  expect(await env.agentResult(handle)).toMatchObject({ toolCalls: 2 })
  expect(results(env)[2]).toContain('the run has used up its 2 tool calls')
})

describe('a run that does not end by itself', () => {
  it('a cancelled run stops the code of a sandbox, and ends it', async () => {
    const { hold, called } = heldTool()
    const env = await start([turn(code('await hold()', 'etl')), answerResult], { tools: [hold] })
    const handle = await env.startAgent({ agent: 'analyst' })
    await called
    await handle.cancel()
    await expect(handle.result()).rejects.toThrow()
    const [session] = await sessionsOf(env, handle)
    expect(await session?.result()).toMatchObject({ ended: 'closed' })
    await env.expectCleanEnd(handle)
  })

  it('an interruption stops the code of a sandbox, which keeps its variables', async () => {
    const { hold, called } = heldTool()
    const script = [turn(code('x = 7\nawait hold()', 'etl')), turn(code('print(x)', 'etl')), answerResult]
    const talk = await TestConversation.start(
      { backend: 'wasm', agents: [agent], tools: [hold], script },
      { agent: 'analyst' },
    )
    const asked = talk.conversation.ask('Begin.')
    await called
    await talk.conversation.interrupt('code')
    expect(await asked).toMatchObject({ status: 'answered', answer: '7' })
    await talk.close()
  })
})

it('a call waits for an approval in a sandbox while the run continues as new', async () => {
  const requests: ApprovalRequest[] = []
  const pay = tool('pay', () => 'paid', { effect: 'once', approval: 'always' })
  const talk = await TestConversation.start(
    {
      backend: 'wasm',
      agents: [agent],
      tools: [pay],
      approvals: { onRequest: (request) => void requests.push(request) },
      limits: { historyEvents: 100 },
      script: [turn(code('x = await pay()', 'etl')), turn(code('print(x)', 'etl')), answerResult],
    },
    { agent: 'analyst' },
  )
  const asked = talk.conversation.ask('Pay.')
  await vi.waitUntil(() => requests.length === 1, fastPollOptions)
  const waits = () => talk.env.ptc.waits({ run: talk.conversation.workflowId })
  await expect.poll(waits).toMatchObject([{ wait: { type: 'approval', tool: 'pay' } }])
  const executions = async () => (await talk.env.executionHistories(talk.handle)).length
  while ((await executions()) === 1) await talk.handle.signal('no signal of a conversation')
  await talk.env.ptc.approveCall(requests[0]?.token ?? '')
  expect(await asked).toMatchObject({ status: 'answered', answer: 'paid' })
  const [session] = await sessionsOf(talk.env, talk.handle)
  await talk.close()
  expect(await session?.result()).toMatchObject({ ended: 'closed' })
})

it('a sandbox that somebody ends in a cell: the model is told, and the next code gets a new one', async () => {
  const { hold, called } = heldTool()
  const script = [turn(code('x = 1\nawait hold()', 'etl')), turn(code('print("x" in globals())', 'etl')), answerResult]
  const env = await start(script, { tools: [hold] })
  const handle = await env.startAgent({ agent: 'analyst' })
  await called
  const [session] = await sessionsOf(env, handle)
  await session?.signal('close')
  expect(await env.agentResult(handle)).toMatchObject({ status: 'answered', answer: `False\n${isNew('etl')}` })
  expect(results(env)[0]).toMatch(/^\[lost\] session etl was closed before the code ended/)
})
