import { expect, it, vi } from 'vitest'
import { z } from 'zod'
import type { ApprovalRequest } from '../../../../src/config/options/approvals.js'
import { defineTool } from '../../../../src/index.js'
import { TestConversation } from '../../../support/environment/test-conversation.js'
import { fastPollOptions } from '../../../support/poll-options.js'
import { answerResult, call, code, turn } from '../../../support/script.js'

it('a conversation remembers an approval for later messages, and a waiting message can be interrupted', async () => {
  const requests: ApprovalRequest[] = []
  const paid: number[] = []
  const pay = defineTool({
    name: 'pay',
    description: 'Pays.',
    input: z.object({ euros: z.number() }),
    output: z.string(),
    effect: 'once',
    approval: 'always',
    run: ({ euros }) => {
      paid.push(euros)
      return `paid ${euros}`
    },
  })
  const talk = await TestConversation.start({
    tools: [pay],
    approvals: { onRequest: (request) => void requests.push(request) },
    script: [
      turn(call('pay', { euros: 1 })),
      turn(call('pay', { euros: 2 })),
      answerResult,
      turn(code('print(await pay(euros=2))')),
      answerResult,
    ],
  })
  const { conversation, env } = talk
  const first = conversation.ask('Pay 1.')
  await vi.waitUntil(() => requests.length === 1, fastPollOptions)
  await conversation.interrupt()
  expect(await first).toMatchObject({ status: 'interrupted' })
  const second = conversation.ask('Pay 2.')
  await vi.waitUntil(() => requests.length === 2, fastPollOptions)
  await env.ptc.approveCall(requests[1]?.token ?? '', { remember: true })
  expect(await second).toMatchObject({ status: 'answered', answer: 'paid 2' })
  expect(await conversation.ask('Pay 2 again.')).toMatchObject({ status: 'answered', answer: 'paid 2' })
  expect(requests).toHaveLength(2)
  expect(paid).toEqual([2, 2])
  await talk.close()
})
