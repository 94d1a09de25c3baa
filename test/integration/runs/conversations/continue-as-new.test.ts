import { expect, it } from 'vitest'
import { TestConversation } from '../../../support/environment/test-conversation.js'
import { answerResult, code, faulty, text, turn } from '../../../support/script.js'
import { tool } from '../../../support/tools.js'

it('a conversation keeps messages, answers, variables and counts over continue-as-new', async () => {
  const talk = await TestConversation.start({
    tools: [tool('ping', ({ number }) => number)],
    limits: { historyEvents: 100 },
    script: [
      turn(code('total = 0\nprint(total)')),
      answerResult,
      turn(
        code(
          'import asyncio\nfor n in range(40):\n    total += await ping(number=n)\n    await asyncio.sleep(0)\nprint(total)',
        ),
      ),
      answerResult,
      turn(code('total += 1\nprint(total)')),
      answerResult,
      turn(code('total += 1\nprint(total)')),
      answerResult,
    ],
  })
  const { conversation } = talk
  expect(await conversation.ask('Begin.', { id: 'first' })).toMatchObject({ answer: '0', isNew: true })
  const second = await conversation.send('Count.')
  const third = await talk.another().send('One more.')
  expect(await second.answer()).toMatchObject({ answer: '780', message: 2, toolCalls: 40, cells: 1, turns: 2 })
  expect(await third.answer()).toMatchObject({ answer: '781', message: 3, isNew: false })
  expect(await conversation.ask('And one.')).toMatchObject({ answer: '782', message: 4 })
  expect(await talk.another().answer('first')).toMatchObject({ answer: '0', message: 1, isNew: true })
  expect(await conversation.status()).toMatchObject({ state: 'waiting', messages: 4, turns: 8, toolCalls: 40 })
  expect(await conversation.history()).toHaveLength(16)
  await talk.close()
  expect((await talk.env.executionHistories(talk.handle)).length).toBeGreaterThan(2)
})

it('a conversation keeps the work for a message before a continue-as-new when the message then fails', async () => {
  const talk = await TestConversation.start({
    tools: [tool('ping', ({ number }) => number)],
    limits: { historyEvents: 100 },
    script: [
      turn(
        code(
          'import asyncio\nfor n in range(40):\n    await ping(number=n)\n    await asyncio.sleep(0)\nprint("done")',
        ),
      ),
      turn(text('It was done.')),
      { ...turn(text('It was done.')), match: { lastUserText: 'Go on.' } },
      {
        ...faulty([{ type: 'status', attempt: 'every', status: 401 }], turn(text('late'))),
        match: { lastToolResult: 'done' },
      },
    ],
  })
  const { conversation } = talk
  expect(await conversation.ask('Count.')).toMatchObject({ status: 'failed', isTakenBack: false, toolCalls: 40 })
  expect(await conversation.ask('Go on.')).toMatchObject({ status: 'answered', answer: 'It was done.', turns: 1 })
  expect(talk.sentMessages).toHaveLength(3)
  await talk.close()
})
