import { isJsonObject, type JsonObject, type JsonValue } from '../../common/json/json.js'
import type { ToolUseBlock } from '../../common/runs/messages.js'
import { parseToolInput } from '../tool-input.js'
import type { ToolCallDelta } from './chunks.js'

/** A tool call of which only some deltas have arrived. */
export interface ToolCallDraft {
  readonly index: number | undefined
  readonly id: string
  readonly name: string
  /** JSON text, so far. */
  readonly arguments: string
  /** Members that are not in OpenAI's API, such as signatures. */
  readonly extras: JsonObject
}

/**
 * Adds a delta to the call that it continues, or begins a call. OpenAI numbers the calls. Other servers send each call
 * in one delta: all with number 0, without a number, or without an id.
 */
export function addToolCallDelta(drafts: readonly ToolCallDraft[], delta: ToolCallDelta): readonly ToolCallDraft[] {
  const { index, id, type: _type, function: called, ...extras } = delta
  const name = called?.name ?? ''
  const added = argumentsText(called?.arguments)
  const position = drafts.findLastIndex((draft) => index == null || draft.index === index)
  const draft = drafts[position]
  if (draft === undefined || beginsCall(draft, id ?? '', name)) {
    return [...drafts, { index: index ?? undefined, id: id ?? '', name, arguments: added, extras: withoutNull(extras) }]
  }
  const extended: ToolCallDraft = {
    ...draft,
    id: draft.id || (id ?? ''),
    name: draft.name || name,
    arguments: draft.arguments + added,
    extras: { ...draft.extras, ...withoutNull(extras) },
  }
  return drafts.with(position, extended)
}

/**
 * Whether a delta with the number of `draft`, or without a number, begins another call. Some servers repeat id and
 * name.
 */
function beginsCall(draft: ToolCallDraft, id: string, name: string): boolean {
  if (id !== '' && draft.id !== '') return id !== draft.id
  return name !== '' && draft.name !== '' && (draft.arguments === '' || isWhole(draft.arguments))
}

function isWhole(text: string): boolean {
  try {
    return isJsonObject(JSON.parse(text))
  } catch {
    return false
  }
}

/** The tool use of a complete call. When the name is missing, no tool has it, and the model gets an error. */
export function toToolUse({ id, name, arguments: text }: ToolCallDraft, isTruncated: boolean): ToolUseBlock {
  return { type: 'tool_use', id, name, ...parseToolInput(name, text, isTruncated) }
}

function argumentsText(value: JsonValue | undefined): string {
  if (value == null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

export function withoutNull(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null && value !== undefined))
}
