import { expect, it } from 'vitest'
import { TestConversation } from '../../../support/environment/test-conversation.js'
import { call, text, turn } from '../../../support/script.js'
import { Deferred, tool } from '../../../support/tools.js'

const imported = [
  { role: 'user', content: 'My name is Ada.' },
  { role: 'assistant', content: [{ type: 'text', text: 'Hello Ada.' }] },
] as const

it('a conversation begins with messages of another source, and exports all messages in the same format', async () => {
  const talk = await TestConversation.start(
    { tools: [tool('ping', () => 'pong')], script: [turn(text('unused')), turn(call('ping')), turn(text('Ada.'))] },
    { messages: imported },
  )
  expect(await talk.conversation.ask('Who am I?')).toMatchObject({ answer: 'Ada.' })
  const history = await talk.another().history()
  const [first, ...others] = history
  expect(first).toEqual({ role: 'user', content: [text('My name is Ada.')] })
  expect(others).toMatchObject([
    imported[1],
    { role: 'user', content: [text('Who am I?')] },
    { role: 'assistant', content: [{ type: 'tool_use', name: 'ping' }] },
    { role: 'user', content: [{ type: 'tool_result', content: 'pong' }] },
    { role: 'assistant', content: [text('Ada.')] },
  ])
  await talk.close()
  expect(await talk.another().history()).toEqual(history)
})

it('a conversation forgets or replaces all messages, but not while it works', async () => {
  const called = new Deferred()
  const opened = new Deferred()
  const talk = await TestConversation.start({
    tools: [
      tool('wait', async () => {
        called.resolve()
        await opened.promise
        return null
      }),
    ],
    script: [turn(text('first')), turn(call('wait')), turn(text('third'))],
  })
  const { conversation } = talk
  await conversation.ask('1')
  await conversation.reset()
  expect(await conversation.history()).toEqual([])
  expect(await conversation.ask('2')).toMatchObject({ answer: 'first', message: 2 })
  expect(talk.sentMessages).toMatchObject([{ content: [text('2')] }])
  await conversation.reset(imported)
  const third = conversation.ask('3')
  await called.promise
  await expect(conversation.reset()).rejects.toMatchObject({ code: 'CONVERSATION_BUSY' })
  opened.resolve()
  expect(await third).toMatchObject({ answer: 'third' })
  expect(talk.sentMessages[0]).toMatchObject({ content: [text('My name is Ada.')] })
  await talk.close()
})
