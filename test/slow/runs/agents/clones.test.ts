import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineAgent, subagent } from '../../../../src/index.js'
import type { ScriptedTurn } from '../../../../src/testing/index.js'
import type { ScriptedConversation } from '../../../../src/testing/scripted-messages-api/script/script.js'
import { renderTree } from '../../../../src/cli/rendering/tree/render-tree.js'
import { childWorkflowIds, executionHistories } from '../../../support/environment/histories.js'
import { TestEnvironment, type TestEnvironmentOptions } from '../../../support/environment/test-environment.js'
import { answerResult, call, code, text, turn } from '../../../support/script.js'
import { tool } from '../../../support/tools.js'

const lookup = tool('lookup', () => 'found')
const pay = tool('pay', () => 'paid')

function answering(question: string, ...turns: readonly ScriptedTurn[]): ScriptedConversation {
  return { match: { firstUserText: { equals: question } }, turns }
}

function start(options: TestEnvironmentOptions, ...conversations: readonly ScriptedConversation[]) {
  return TestEnvironment.start({ ...options, script: { conversations } })
}

interface SentRequest {
  readonly system: unknown
  readonly tools: readonly { readonly name: string }[]
  readonly messages: readonly { readonly content: unknown }[]
}

/** The requests of the conversation that began with this question. */
function requestsOf(env: TestEnvironment, question: string): readonly SentRequest[] {
  const requests = env.api.requests.map(({ body }) => body as SentRequest)
  return requests.filter(({ messages }) => JSON.stringify(messages[0]?.content).includes(`"${question}"`))
}

it('a run without an agent gives parts to clones: its code two at once, and its model one', async () => {
  const source = `
import asyncio
print(",".join(await asyncio.gather(subagent(task="rivers"), subagent(task="lakes"))))`
  const env = await start(
    { tools: [lookup, subagent()] },
    answering('go', turn(code(source)), turn(call('subagent', { task: 'seas' })), answerResult),
    answering('rivers', turn(code('print(await lookup())')), answerResult),
    answering('lakes', turn(code('await subagent(task="more")')), turn(text('Constance'))),
    answering('seas', turn(text('Baltic'))),
  )
  const handle = await env.startAgent({ context: { tenant: 'acme' } })
  const result = await env.agentResult(handle)
  expect(result).toMatchObject({ status: 'answered', answer: 'Baltic', toolCalls: 3 })
  expect(result.subagents).toMatchObject({ runs: 3, turns: 5, cells: 2, toolCalls: 1 })
  expect(JSON.stringify(requestsOf(env, 'go'))).toContain('found,Constance')
  // A clone has the tools of the run, and none that starts clones.
  expect(JSON.stringify(requestsOf(env, 'lakes'))).toContain("name 'subagent' is not defined")
  expect(requestsOf(env, 'seas')[0]?.tools.map(({ name }) => name)).toEqual(['execute_code', 'read_more'])
  expect(requestsOf(env, 'go')[0]?.tools.map(({ name }) => name)).toEqual(['execute_code', 'subagent', 'read_more'])
  const tree = renderTree(await env.ptc.handle(handle.workflowId).tree(), { width: 120, color: false })
  expect(tree).toMatch(/subagent\(task="rivers"\)/)
  const children = childWorkflowIds(await executionHistories(env.client, handle))
  expect(children).toHaveLength(3)
  for (const id of children) expect(tree).toContain(id)
  await env.expectCleanEnd(handle)
})

it('a clone has the instructions and tools of its agent, and answers with text, also to an agent with a schema', async () => {
  const clerk = defineAgent({
    name: 'clerk',
    instructions: 'You count coins.',
    tools: ['lookup', 'subagent'],
    output: z.object({ total: z.int() }),
  })
  const env = await start(
    { tools: [lookup, pay, subagent()], agents: [clerk] },
    answering('go', turn(call('subagent', { task: 'count' })), turn(call('submit_answer', { total: 3 }))),
    answering('count', turn(code('print(await lookup())\nawait pay()')), answerResult),
  )
  const result = await env.runAgent({ agent: 'clerk' })
  expect(result).toMatchObject({ status: 'answered', output: { total: 3 } })
  const [request] = requestsOf(env, 'count')
  expect(JSON.stringify(request?.system)).toContain('You count coins.')
  expect(JSON.stringify(requestsOf(env, 'go')[1])).toContain("name 'pay' is not defined")
})

it('a clone has no more tools than its run, and the model and limits of its run', async () => {
  const env = await start(
    { tools: [lookup, pay, subagent()] },
    answering('go', turn(call('subagent', { task: 'part' })), answerResult),
    answering('part', turn(code('await pay()')), turn(code('print(1)')), answerResult),
  )
  const { answer } = await env.runAgent({ tools: ['lookup', 'subagent'], limits: { turns: 2 } })
  expect(answer).toContain('subagent ended as turn_limit')
  expect(JSON.stringify(requestsOf(env, 'part')[1])).toContain("name 'pay' is not defined")
})

it('a clone uses a part of the budget of its run', async () => {
  const env = await start(
    { tools: [subagent()] },
    answering('go', turn(call('subagent', { task: 'part' })), answerResult),
    answering('part', turn(code('print(1)')), turn(code('print(2)')), turn(code('print(3)')), answerResult),
  )
  const result = await env.runAgent({ budget: { turns: 5, whenSpent: 'end' } })
  expect(result.answer).toContain('subagent ended as budget_spent')
  expect(result.subagents).toMatchObject({ runs: 1, turns: 2 })
})

it('a program has no tool that starts clones', async () => {
  const env = await TestEnvironment.start({ tools: [lookup, subagent()] })
  const { outcome } = await env.runProgram('print(await lookup())\nawait subagent(task="x")')
  expect(outcome).toMatchObject({ status: 'code_error', output: '' })
  expect(JSON.stringify(outcome)).toContain("name 'subagent' is not defined")
})
