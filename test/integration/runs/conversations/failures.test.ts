import { expect, it } from 'vitest'
import type { ScriptedFault } from '../../../../src/testing/scripted-messages-api/script/faults.js'
import { TestConversation } from '../../../support/environment/test-conversation.js'
import { call, code, faulty, text, turn } from '../../../support/script.js'
import { Deferred, tool } from '../../../support/tools.js'

const refusedKey: ScriptedFault = { type: 'status', attempt: 'every', status: 401 }

it('takes back a message that failed before the model had read it, and the conversation continues', async () => {
  const talk = await TestConversation.start({
    script: [
      turn(text('one')),
      turn(text('two')),
      { ...faulty([refusedKey], turn(text('late'))), match: { lastUserText: { equals: '2' } } },
    ],
  })
  const { conversation } = talk
  await conversation.ask('1')
  expect(await conversation.ask('2')).toMatchObject({
    status: 'failed',
    answer: '',
    error: { code: 'MODEL_AUTH' },
    isTakenBack: true,
    message: 2,
  })
  expect(await conversation.ask('2, again')).toMatchObject({ status: 'answered', answer: 'two', message: 3 })
  expect(talk.sentMessages).toMatchObject([
    { content: [text('1')] },
    { content: [text('one')] },
    { content: [text('2, again')] },
  ])
  await talk.close()
})

it('keeps the work for a message that fails later', async () => {
  let payments = 0
  const talk = await TestConversation.start({
    tools: [tool('pay', () => (payments += 1))],
    script: [
      turn(call('pay')),
      { ...turn(text('paid')), match: { lastUserText: 'Done?' } },
      { ...faulty([refusedKey], turn(text('late'))), match: { lastToolResult: '1' } },
    ],
  })
  const { conversation } = talk
  expect(await conversation.ask('Pay.')).toMatchObject({ status: 'failed', isTakenBack: false, toolCalls: 1 })
  expect(await conversation.ask('Done?')).toMatchObject({ status: 'answered', answer: 'paid' })
  expect(talk.sentMessages).toMatchObject([
    { content: [text('Pay.')] },
    { content: [{ type: 'tool_use' }] },
    { content: [{ type: 'tool_result', content: '1' }, text('Done?')] },
  ])
  expect(payments).toBe(1)
  await talk.close()
})

it('a message ends at its turn limit, and the next one continues from there', async () => {
  const talk = await TestConversation.start({
    tools: [tool('ping', () => 'pong')],
    limits: { turns: 1 },
    script: [turn(call('ping')), turn(text('pong it was'))],
  })
  expect(await talk.conversation.ask('Ping.')).toMatchObject({ status: 'turn_limit', turns: 1 })
  expect(await talk.conversation.ask('And?')).toMatchObject({ status: 'answered', answer: 'pong it was' })
  await talk.close()
})

it("fails the first message with the reason when the conversation can't begin", async () => {
  const talk = await TestConversation.start({ script: [turn(text('unused'))] }, { agent: 'nobody' })
  await expect(talk.conversation.ask('Hi.')).rejects.toMatchObject({
    code: 'AGENT_UNKNOWN',
    message: expect.stringContaining('nobody') as string,
  })
  await expect(talk.conversation.status()).rejects.toMatchObject({ code: 'CONVERSATION_CLOSED' })
})

it('a conversation refuses invalid requests, and stays unchanged', async () => {
  const talk = await TestConversation.start(
    { script: [turn(text('one')), turn(text('two'))] },
    { context: { user: 'a' } },
  )
  const { conversation } = talk
  await expect(conversation.status()).rejects.toMatchObject({ code: 'CONVERSATION_NOT_FOUND' })
  await expect(talk.another({ mustExist: true }).ask('1')).rejects.toMatchObject({ code: 'CONVERSATION_NOT_FOUND' })
  await conversation.ask('1')
  const invalid = { code: 'RUN_INPUT_INVALID' }
  await expect(talk.another({ context: { user: 'b' } }).ask('2')).rejects.toMatchObject(invalid)
  await expect(talk.another({ agent: 'other' }).ask('2')).rejects.toMatchObject(invalid)
  await expect(conversation.ask(' ')).rejects.toMatchObject(invalid)
  await expect(conversation.ask('x'.repeat(500_001))).rejects.toMatchObject(invalid)
  await expect(conversation.reset([{ role: 'user', content: 'x' }])).rejects.toMatchObject(invalid)
  expect(() => talk.another({ agnt: 'x' } as object)).toThrow('Did you mean "agent"?')
  await expect(conversation.answer('no-such-message')).rejects.toMatchObject({ code: 'MESSAGE_NOT_FOUND' })
  expect(await talk.another({ mustExist: true }).ask('2')).toMatchObject({ answer: 'two', message: 2 })
  await talk.close()
  await expect(conversation.close()).rejects.toMatchObject({ code: 'CONVERSATION_CLOSED' })
  await expect(conversation.interrupt()).rejects.toMatchObject({ code: 'CONVERSATION_CLOSED' })
})

it('refuses waiting messages when the conversation is closed, and the next message starts a new one', async () => {
  const called = new Deferred()
  const talk = await TestConversation.start({
    tools: [
      tool('wait', (_input, { signal }) => {
        called.resolve()
        return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
      }),
    ],
    script: [turn(code('await wait()')), turn(text('never'))],
  })
  const { conversation } = talk
  const first = conversation.ask('1')
  await called.promise
  const second = await conversation.send('2')
  await talk.close()
  expect(await first).toMatchObject({ status: 'interrupted' })
  await expect(second.answer()).rejects.toMatchObject({ code: 'CONVERSATION_CLOSED' })
})
