import type { JsonObject, JsonValue } from '../../../common/json/json.js'
import { invalidRequest } from '../request/api-error.js'
import type { ConversationState } from './conversation-state.js'

/** The value of each placeholder `{{name}}` in a reply. */
const placeholders: Readonly<Record<string, (state: ConversationState) => string | undefined>> = {
  /** Text of the last tool result of the whole conversation. */
  last_tool_result: ({ toolResults }) => toolResults.at(-1),
  /** The id by which `read_more` finds the result. */
  last_tool_use_id: ({ lastToolUseId }) => lastToolUseId,
  first_user_text: ({ firstUserText }) => firstUserText,
  last_user_text: ({ lastUserText }) => lastUserText,
}

const anyPlaceholder = /\{\{([a-z_]+)\}\}/g

/**
 * Fills in the placeholders in every string of a value. Other text in braces stays unchanged: code may contain `{{x}}`.
 *
 * @throws ApiError when the conversation has no value for a placeholder
 */
export function fillTemplate(value: string, state: ConversationState): string
export function fillTemplate(value: JsonObject, state: ConversationState): JsonObject
export function fillTemplate(value: JsonValue, state: ConversationState): JsonValue
export function fillTemplate(value: JsonValue, state: ConversationState): JsonValue {
  if (typeof value === 'string') return fillText(value, state)
  if (Array.isArray(value)) return value.map((member: JsonValue) => fillTemplate(member, state))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, fillTemplate(member, state)]))
}

function fillText(text: string, state: ConversationState): string {
  return text.replaceAll(anyPlaceholder, (whole, name: string) => {
    const source = placeholders[name]
    if (source === undefined) return whole
    const value = source(state)
    if (value === undefined)
      throw invalidRequest(`scripted messages API: this conversation has nothing for {{${name}}}`)
    return value
  })
}

/** Names in `{{…}}` that are not placeholders. In a text block they are mistakes. */
export function unknownPlaceholders(text: string): readonly string[] {
  return [...text.matchAll(anyPlaceholder)].map(([, name]) => name ?? '').filter((name) => !(name in placeholders))
}
