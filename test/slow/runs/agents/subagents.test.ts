import { expect, it } from 'vitest'
import { defineAgent } from '../../../../src/index.js'
import { childWorkflowIds } from '../../../support/environment/histories.js'
import { TestEnvironment } from '../../../support/environment/test-environment.js'
import { answerResult, call, code, turn } from '../../../support/script.js'
import { tool } from '../../../support/tools.js'

const ping = tool('ping', () => 'pong')
const about = { instructions: 'You are an agent of a test.', description: 'An agent of a test.' }

it('a sub-agent keeps its lease, and its parent its counts, over continue-as-new', async () => {
  const loop = turn(
    code('import asyncio\nfor n in range(40):\n    await ping()\n    await asyncio.sleep(0)\nprint("done")'),
  )
  const looper = defineAgent({ name: 'looper', ...about, tools: [ping], budget: { turns: 2 } })
  const chief = defineAgent({ name: 'chief', ...about, agents: [looper] })
  const env = await TestEnvironment.start({
    tools: [ping],
    agents: [looper, chief],
    limits: { historyEvents: 100 },
    script: {
      conversations: [
        {
          match: { firstUserText: { equals: 'go' } },
          turns: [turn(call('looper', { task: 'loop' })), loop, turn(call('looper', { task: 'loop' })), answerResult],
        },
        { match: { firstUserText: { equals: 'loop' } }, turns: [loop, turn(call('ping')), answerResult] },
      ],
    },
  })
  const handle = await env.startAgent({ agent: 'chief', budget: { turns: 40 } })
  // Each sub-agent would take three turns.
  expect(await env.agentResult(handle)).toMatchObject({
    status: 'answered',
    answer: '[tool_error] looper ended as budget_spent: it has used its budget.',
    turns: 4,
    subagents: { runs: 2, turns: 4, cells: 2, toolCalls: 82 },
  })
  const chain = await env.executionHistories(handle)
  expect(chain.length).toBeGreaterThan(1)
  const children = childWorkflowIds(chain)
  expect(children).toHaveLength(2)
  for (const child of children) {
    const childHandle = env.client.workflow.getHandle(child)
    expect((await env.executionHistories(childHandle)).length).toBeGreaterThan(1)
    await env.expectCleanEnd(childHandle)
  }
  await env.expectCleanEnd(handle)
})
