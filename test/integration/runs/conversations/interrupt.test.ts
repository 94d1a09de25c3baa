import { describe, expect, it } from 'vitest'
import { waitForAbort } from '../../../../src/common/async/abort.js'
import { backends } from '../../../support/environment/backends.js'
import { TestConversation } from '../../../support/environment/test-conversation.js'
import { waitForActivity } from '../../../support/environment/waits.js'
import { pollSignal } from '../../../support/poll-options.js'
import { answerResult, call, code, faulty, text, turn } from '../../../support/script.js'
import { Deferred, tool } from '../../../support/tools.js'

const note = text('(A person interrupted the work on this message.)')

/** A tool that runs until it is cancelled. */
function blockingTool() {
  const called = new Deferred()
  const cancelled = new Deferred()
  const wait = tool('wait', async (_input, { signal }) => {
    called.resolve()
    await waitForAbort(signal)
    cancelled.resolve()
    throw signal.reason
  })
  return { wait, called: called.promise, cancelled: cancelled.promise }
}

it('interrupts the request to the model, and the next message follows the one before', async () => {
  const talk = await TestConversation.start({
    script: [
      turn(text('Here I am.')),
      {
        ...faulty([{ type: 'delay', attempt: 'every', ms: 60_000 }], turn(text('late'))),
        match: { lastUserText: { equals: 'Think for long.' } },
      },
    ],
  })
  const { conversation } = talk
  const first = conversation.ask('Think for long.')
  await talk.env.api.waitForRequest(() => true, pollSignal())
  await talk.another().interrupt()
  expect(await first).toMatchObject({ status: 'interrupted', answer: '', isTakenBack: false, turns: 1 })
  await talk.env.api.waitForRequest(({ outcome }) => outcome === 'abandoned', pollSignal())
  expect(await conversation.ask('Be quick.')).toMatchObject({ status: 'answered', answer: 'Here I am.', turns: 1 })
  expect(talk.sentMessages).toMatchObject([
    { role: 'user', content: [text('Think for long.'), note, text('Be quick.')] },
  ])
  await talk.close()
})

it('interrupts direct calls, whose tools are cancelled, and tells the model', async () => {
  const { wait, called, cancelled } = blockingTool()
  const talk = await TestConversation.start({ tools: [wait], script: [turn(call('wait')), turn(text('Fine.'))] })
  const aborted = new AbortController()
  const first = talk.conversation.ask('Wait.', { signal: aborted.signal })
  await called
  aborted.abort()
  expect(await first).toMatchObject({ status: 'interrupted', toolCalls: 1 })
  await cancelled
  expect(await talk.conversation.ask('Go on.')).toMatchObject({ answer: 'Fine.' })
  expect(talk.sentMessages.at(-1)?.content).toMatchObject([
    { type: 'tool_result', is_error: true, content: expect.stringContaining('its effect may have happened') as string },
    note,
    text('Go on.'),
  ])
  await talk.close()
})

describe.each(backends)('in %s', (backend) => {
  it('interrupts only the code of a conversation, and the model continues with its output', async () => {
    const { wait, called, cancelled } = blockingTool()
    const talk = await TestConversation.start({
      backend,
      tools: [wait],
      script: [
        turn(code('x = 7\nprint("begun", flush=True)\nawait wait()')),
        answerResult,
        turn(code('print(x)')),
        answerResult,
      ],
    })
    const { conversation } = talk
    const first = conversation.ask('Run it.')
    await called
    await conversation.interrupt('code')
    const { status, answer } = await first
    expect(status).toBe('answered')
    expect(answer).toMatch(/^begun[^]*Interrupted: the code was stopped/)
    await cancelled
    expect(await conversation.ask('And x?')).toMatchObject({ answer: '7' })
    await talk.close()
  })

  it('interrupts running code and the message, starts no further code, and keeps the variables', async () => {
    const begun = new Deferred()
    const talk = await TestConversation.start({
      backend,
      tools: [tool('begin', () => begun.resolve())],
      script: [
        turn(code('x = 7\nawait begin()\nwhile True: pass'), code('x = 8')),
        turn(code('print(x)')),
        answerResult,
      ],
    })
    const { conversation } = talk
    const first = conversation.ask('Run it.')
    await begun.promise
    await waitForActivity(talk.handle, 'session.step')
    await conversation.interrupt()
    expect(await first).toMatchObject({ status: 'interrupted', turns: 1, cells: 1 })
    expect(await conversation.ask('And x?')).toMatchObject({ answer: '7' })
    await talk.close()
  })
})

it('an interrupt does nothing when the conversation waits', async () => {
  const talk = await TestConversation.start({ script: [turn(text('one')), turn(text('two'))] })
  await talk.conversation.ask('1')
  await talk.conversation.interrupt()
  expect(await talk.conversation.ask('2')).toMatchObject({ status: 'answered', answer: 'two' })
  await talk.close()
})
