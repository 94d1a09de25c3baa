import type { JsonObject, JsonValue } from '../../common/json.js'
import { invalid } from './refusal.js'
import type { ConversationState } from './conversation-state.js'

/** What a placeholder `{{name}}` in a reply stands for. */
const placeholders: Readonly<Record<string, (state: ConversationState) => string | undefined>> = {
  /** Text of the last tool result of the whole conversation. */
  last_tool_result: ({ toolResults }) => toolResults.at(-1),
  first_user_text: ({ firstUserText }) => firstUserText,
  last_user_text: ({ lastUserText }) => lastUserText,
}

const anyPlaceholder = /\{\{([a-z_]+)\}\}/g

/**
 * A reply's value with its placeholders filled in, in every string of it. What looks like a placeholder and is none is
 * left alone: code may well contain `{{x}}`.
 *
 * @throws ApiRefusal when the conversation has nothing to fill in
 */
export function fillIn(value: string, state: ConversationState): string
export function fillIn(value: JsonObject, state: ConversationState): JsonObject
export function fillIn(value: JsonValue, state: ConversationState): JsonValue
export function fillIn(value: JsonValue, state: ConversationState): JsonValue {
  if (typeof value === 'string') return fillInText(value, state)
  if (Array.isArray(value)) return value.map((member: JsonValue) => fillIn(member, state))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, fillIn(member, state)]))
}

function fillInText(text: string, state: ConversationState): string {
  return text.replaceAll(anyPlaceholder, (whole, name: string) => {
    const source = placeholders[name]
    if (source === undefined) return whole
    const filling = source(state)
    if (filling === undefined) throw invalid(`scripted messages API: this conversation has nothing for {{${name}}}`)
    return filling
  })
}

/** Names in `{{…}}` that stand for nothing: in text for people, a mistake. */
export function unknownPlaceholders(text: string): readonly string[] {
  return [...text.matchAll(anyPlaceholder)].map(([, name]) => name ?? '').filter((name) => !(name in placeholders))
}
