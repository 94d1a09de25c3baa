import { expect, it, vi } from 'vitest'
import type { ApprovalRequest } from '../../../../src/config/options/approvals.js'
import { TestConversation } from '../../../support/environment/test-conversation.js'
import { hostedCall, hostedCode, hostedResult, hostedTurn } from '../../../support/hosted-code.js'
import { fastPollOptions } from '../../../support/poll-options.js'
import { text } from '../../../support/script.js'
import { tool } from '../../../support/tools.js'

it('gives up waiting hosted code when a message follows an interruption, and asks for approvals', async () => {
  const requests: ApprovalRequest[] = []
  const pay = tool('pay', () => 'paid', { effect: 'once', approval: 'always' })
  const again = hostedTurn([hostedCode('s2', 'await pay({})'), hostedCall('s2', 'pay')], {
    container: { id: 'container_2' },
  })
  const talk = await TestConversation.start(
    {
      backend: 'wasm',
      tools: [pay],
      approvals: { onRequest: (request) => void requests.push(request) },
      script: [
        hostedTurn([hostedCode('s1', 'await pay({})'), hostedCall('s1', 'pay')]),
        { ...again, match: { lastUserText: 'Pay now.' } },
        { ...hostedTurn([hostedResult('s2', 'paid\n'), text('Paid.')]), match: { lastToolResult: { equals: 'paid' } } },
      ],
    },
    { sandbox: 'anthropic' },
  )
  const { conversation, env } = talk
  const first = conversation.ask('Pay.')
  await vi.waitUntil(() => requests.length === 1, fastPollOptions)
  await conversation.interrupt()
  expect(await first).toMatchObject({ status: 'interrupted' })
  const second = conversation.ask('Pay now.')
  await vi.waitUntil(() => requests.length === 2, fastPollOptions)
  expect(requests[1]).toMatchObject({ tool: 'pay' })
  await env.ptc.approveCall(requests[1]?.token ?? '')
  expect(await second).toMatchObject({ status: 'answered', answer: 'Paid.', cells: 1, toolCalls: 1 })
  expect(talk.sentMessages).toMatchObject([
    { role: 'user' },
    { role: 'assistant' },
    { role: 'user', content: [{ type: 'tool_result', content: expect.stringMatching(/^\[stopped\]/) as string }] },
    { role: 'assistant', content: [{ type: 'code_execution_tool_result', tool_use_id: 's1' }] },
    { role: 'user', content: [{ text: expect.stringMatching(/^\[stopped\]/) as string }, {}, text('Pay now.')] },
    { role: 'assistant' },
    { role: 'user', content: [{ type: 'tool_result', content: 'paid' }] },
  ])
  await talk.close()
})
