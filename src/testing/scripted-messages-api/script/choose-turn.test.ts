import { expect, test } from 'vitest'
import { chooseTurn } from './choose-turn.js'
import type { ConversationState } from './conversation-state.js'
import type { ScriptedConversation, ScriptedTurn, TurnMatch } from './script.js'

function turn(text: string, match?: TurnMatch): ScriptedTurn {
  return { reply: { content: [{ type: 'text', text }] }, ...(match === undefined ? {} : { match }) }
}

function state(more: Partial<ConversationState> = {}): ConversationState {
  return {
    key: 'k',
    assistantMessages: 0,
    firstUserText: 'Who?',
    lastUserText: undefined,
    toolResults: [],
    lastToolUseId: undefined,
    lastToolResult: undefined,
    answersCode: false,
    ...more,
  }
}

function chosen(script: readonly ScriptedConversation[], at: ConversationState): unknown {
  return chooseTurn(script, at).reply.content[0]
}

test('a script chooses turns without conditions by the number of assistant messages', () => {
  const script = [{ turns: [turn('one'), turn('two')] }]

  expect(chosen(script, state())).toMatchObject({ text: 'one' })
  expect(chosen(script, state({ assistantMessages: 1 }))).toMatchObject({ text: 'two' })
})

test('a script prefers a turn whose conditions hold, and does not count it among the others', () => {
  const script = [{ turns: [turn('one'), turn('sorry', { lastToolResult: 'Traceback' }), turn('two')] }]

  expect(chosen(script, state({ assistantMessages: 1, lastToolResult: 'Traceback …' }))).toMatchObject({
    text: 'sorry',
  })
  expect(chosen(script, state({ assistantMessages: 1, lastToolResult: '42' }))).toMatchObject({ text: 'two' })
})

test('a script requires all conditions of a turn', () => {
  const match = { assistantMessages: 2, lastUserText: { equals: 'And Q4?' } }
  const script = [{ turns: [turn('other'), turn('other'), turn('other'), turn('Q4', match)] }]

  expect(chosen(script, state({ assistantMessages: 2, lastUserText: 'And Q4?' }))).toMatchObject({ text: 'Q4' })
  expect(chosen(script, state({ assistantMessages: 1, lastUserText: 'And Q4?' }))).toMatchObject({ text: 'other' })
  expect(chosen(script, state({ assistantMessages: 2, lastUserText: 'And Q4? ' }))).toMatchObject({ text: 'other' })
})

test('a script chooses a conversation by its first user message, else the one without match', () => {
  const script = [
    { turns: [turn('rest')] },
    { match: { firstUserText: { pattern: '^Who' } }, turns: [turn('who')] },
    { match: { firstUserText: 'What' }, turns: [turn('what')] },
  ]

  expect(chosen(script, state())).toMatchObject({ text: 'who' })
  expect(chosen(script, state({ firstUserText: 'Tell me: What?' }))).toMatchObject({ text: 'what' })
  expect(chosen(script, state({ firstUserText: 'Why?' }))).toMatchObject({ text: 'rest' })
})

test('rejects a conversation without a scripted turn, without retry', () => {
  const script = [{ match: { firstUserText: 'Who' }, turns: [turn('one')] }]

  expect(() => chooseTurn(script, state({ assistantMessages: 1 }))).toThrowError(
    expect.objectContaining({
      status: 400,
      message: expect.stringContaining('no turn for a conversation with 1 assistant'),
    }),
  )
  expect(() => chooseTurn(script, state({ firstUserText: 'Why?' }))).toThrowError(
    expect.objectContaining({ status: 400, message: expect.stringContaining('begins with "Why?"') }),
  )
})
