import { expect, test } from 'vitest'
import type { ConversationState } from './conversation-state.js'
import { fillIn } from './template.js'

const state: ConversationState = {
  key: 'k',
  assistantMessages: 1,
  firstUserText: 'Who?',
  lastUserText: undefined,
  toolResults: ['1', 'two $& {{first_user_text}}'],
  lastToolResult: 'two',
}

test('placeholders are filled in wherever a string is, and what is filled in is left alone', () => {
  expect(fillIn({ code: ['{{first_user_text}} {{last_tool_result}}'], n: 1 }, state)).toEqual({
    code: ['Who? two $& {{first_user_text}}'],
    n: 1,
  })
})

test('braces that are no placeholder stay', () => {
  expect(fillIn('f"{{name}} {{ last_tool_result }}"', state)).toBe('f"{{name}} {{ last_tool_result }}"')
})

test('a conversation with nothing to fill in is refused', () => {
  expect(() => fillIn('{{last_user_text}}', state)).toThrow('this conversation has nothing for {{last_user_text}}')
})
