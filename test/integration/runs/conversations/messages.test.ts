import { describe, expect, it } from 'vitest'
import { backends } from '../../../support/environment/backends.js'
import { TestConversation } from '../../../support/environment/test-conversation.js'
import { answerResult, call, code, text, turn } from '../../../support/script.js'
import { Deferred, tool } from '../../../support/tools.js'

const user = (...texts: readonly string[]) => ({ role: 'user', content: texts.map(text) })
const assistant = (answer: string) => ({ role: 'assistant', content: [text(answer)] })

/** A tool that returns when the test opens the gate. */
function gate() {
  const called = new Deferred()
  const opened = new Deferred()
  const wait = tool('wait', async () => {
    called.resolve()
    await opened.promise
    return 'waited'
  })
  return { wait, called: called.promise, open: () => opened.resolve() }
}

describe.each(backends)('a conversation, in %s', (backend) => {
  it('a conversation answers messages with the variables of earlier messages, until it is closed', async () => {
    const talk = await TestConversation.start({
      backend,
      script: [turn(code('x = 20 + 1\nprint("set")')), answerResult, turn(code('print(x * 2)')), answerResult],
    })
    const { conversation } = talk
    expect(await conversation.ask('Set x.')).toEqual({
      status: 'answered',
      answer: 'set',
      isTakenBack: false,
      message: 1,
      turns: 2,
      cells: 1,
      toolCalls: 0,
      isNew: true,
    })
    expect(await conversation.ask('Double it.')).toMatchObject({ answer: '42', message: 2, cells: 1, isNew: false })
    expect(talk.sentMessages.filter(({ role }) => role === 'user')).toMatchObject([
      user('Set x.'),
      { content: [{ type: 'tool_result' }] },
      user('Double it.'),
      { content: [{ type: 'tool_result' }] },
    ])
    await talk.close()
    expect(await talk.handle.result()).toMatchObject({ messages: 2, turns: 4, cells: 2 })
  })
})

it('a conversation queues messages, and answers each with the earlier answers in view', async () => {
  const { wait, called, open } = gate()
  const talk = await TestConversation.start({
    tools: [wait],
    script: [turn(call('wait')), turn(text('one')), turn(text('two')), turn(text('three'))],
  })
  const { conversation } = talk
  const first = conversation.ask('1')
  await called
  const second = await conversation.send('2')
  const third = await talk.another().send('3')
  expect(await conversation.status()).toMatchObject({ state: 'working', messages: 3, queued: 2, turns: 1 })
  open()
  expect([await first, await second.answer(), await third.answer()]).toMatchObject([
    { answer: 'one', message: 1 },
    { answer: 'two', message: 2 },
    { answer: 'three', message: 3 },
  ])
  expect(talk.sentMessages.slice(3)).toMatchObject([assistant('one'), user('2'), assistant('two'), user('3')])
  expect(await conversation.status()).toMatchObject({ state: 'waiting', messages: 3, queued: 0, turns: 4 })
  await talk.close()
})

it('the model reads a steering message with its next turn, and answers both messages together', async () => {
  const { wait, called, open } = gate()
  const talk = await TestConversation.start({ tools: [wait], script: [turn(call('wait')), turn(text('both'))] })
  const first = talk.conversation.ask('Look for A.')
  await called
  const steering = await talk.another().send('And for B.', { steer: true })
  open()
  expect([await first, await steering.answer()]).toMatchObject([
    { answer: 'both', message: 1, turns: 2 },
    { answer: 'both', message: 2, turns: 2 },
  ])
  expect(talk.sentMessages.at(-1)?.content).toMatchObject([
    { type: 'tool_result', content: 'waited' },
    text('And for B.'),
  ])
  await talk.close()
})

it('a conversation works once on a message with one id, from any number of senders', async () => {
  const talk = await TestConversation.start({ script: [turn(text('hello')), turn(text('again'))] })
  const { conversation } = talk
  const sent = await conversation.send('Hi.', { id: 'delivery-7' })
  const repeated = await talk.another().send('Hi.', { id: 'delivery-7' })
  expect(await repeated.answer()).toEqual(await sent.answer())
  expect(await talk.another().answer('delivery-7')).toMatchObject({ answer: 'hello', message: 1 })
  expect(await conversation.ask('Hi.')).toMatchObject({ answer: 'again', message: 2 })
  expect(talk.env.api.requests).toHaveLength(2)
  await talk.close()
})

it('an aborted signal ends the wait for an answer, and not the work', async () => {
  const { wait, called, open } = gate()
  const talk = await TestConversation.start({ tools: [wait], script: [turn(call('wait')), turn(text('done'))] })
  const sent = await talk.conversation.send('Go.', { id: 'go' })
  await called
  const controller = new AbortController()
  const waiting = talk.another().answer('go', { signal: controller.signal })
  controller.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
  expect(await talk.conversation.status()).toMatchObject({ state: 'working', message: 'go' })
  open()
  expect(await sent.answer()).toMatchObject({ status: 'answered', answer: 'done' })
  await talk.close()
})

it('rejects the sending of a message that the conversation refuses', async () => {
  const talk = await TestConversation.start({ script: [turn(text('hello'))] }, { context: { user: 'ann' } })
  await talk.conversation.ask('Hi.')
  const refused = { code: 'RUN_INPUT_INVALID', message: expect.stringContaining('another context') as string }
  for (const options of [{ context: { user: 'eve' } }, { context: { user: 'eve' }, mustExist: true }])
    await expect(talk.another(options).send('Hi.')).rejects.toMatchObject(refused)
  expect(await talk.conversation.status()).toMatchObject({ messages: 1 })
  await talk.close()
})
