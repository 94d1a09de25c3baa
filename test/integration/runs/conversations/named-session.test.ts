import { expect, it } from 'vitest'
import { TestConversation } from '../../../support/environment/test-conversation.js'
import { TestSession } from '../../../support/environment/test-session.js'
import { uniqueName } from '../../../support/temporal/shared-server.js'
import { answerResult, code, turn } from '../../../support/script.js'
import { tool } from '../../../support/tools.js'

it('shares variables with everybody else who uses the session, which outlives the conversation', async () => {
  const session = uniqueName('books')
  const talk = await TestConversation.start(
    {
      backend: 'wasm',
      tools: [tool('ping', () => 'pong')],
      script: [
        turn(code('total = 1\nprint(await ping())')),
        answerResult,
        turn(code('total += 1\nprint(total)')),
        answerResult,
      ],
    },
    { session },
  )
  const { conversation, env } = talk
  const books = TestSession.create(env, session)
  expect(await conversation.ask('Begin.')).toMatchObject({
    status: 'answered',
    answer: `pong\n(session ${session} is new: it has no variables of earlier code.)`,
    cells: 1,
    toolCalls: 1,
  })
  expect(await books.outputOf('print(total)\ntotal = 10')).toBe('1\n')
  expect(await conversation.ask('Go on.')).toMatchObject({ status: 'answered', answer: '11' })
  await talk.close()
  expect(await books.outputOf('print(total)')).toBe('11\n')
  await books.close()
})
