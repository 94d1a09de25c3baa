import { expect, test } from 'vitest'
import type { ConversationState } from './conversation-state.js'
import { fillTemplate } from './template.js'

const state: ConversationState = {
  key: 'k',
  assistantMessages: 1,
  firstUserText: 'Who?',
  lastUserText: undefined,
  toolResults: ['1', 'two $& {{first_user_text}}'],
  lastToolUseId: 'toolu_2',
  lastToolResult: 'two',
  answersCode: false,
}

test('fills placeholders in every string of a reply, but not in the filled-in text', () => {
  expect(fillTemplate({ code: ['{{first_user_text}} {{last_tool_result}}'], n: 1 }, state)).toEqual({
    code: ['Who? two $& {{first_user_text}}'],
    n: 1,
  })
})

test('keeps braces in a reply that are not a placeholder', () => {
  expect(fillTemplate('f"{{name}} {{ last_tool_result }}"', state)).toBe('f"{{name}} {{ last_tool_result }}"')
})

test('rejects a conversation without a value for the placeholder', () => {
  expect(() => fillTemplate('{{last_user_text}}', state)).toThrow(
    'this conversation has nothing for {{last_user_text}}',
  )
})
