import { isJsonObject, type JsonObject } from '../../../common/json/json.js'
import { inputText } from '../../reply/tool-input.js'
import type { ToolCallDelta } from './chat-stream.js'

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
  const added = inputText(called?.arguments)
  const position = drafts.findLastIndex((draft) => index == null || draft.index === index)
  const draft = drafts[position]
  if (draft === undefined || beginsCall(draft, { id: id ?? '', name, added })) {
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
 * Whether a delta with the number of `draft`, or without one, begins another call. Some servers repeat the name, and
 * the id, with each piece of the arguments; others give all calls one id.
 */
function beginsCall(draft: ToolCallDraft, { id, name, added }: { id: string; name: string; added: string }): boolean {
  if (id !== '' && draft.id !== '' && id !== draft.id) return true
  if (name === '' || draft.name === '') return false
  // Nothing but blanks can continue whole arguments.
  return name !== draft.name || (added.trim() !== '' && isWhole(draft.arguments))
}

function isWhole(text: string): boolean {
  if (!text.trimEnd().endsWith('}')) return false
  try {
    return isJsonObject(JSON.parse(text))
  } catch {
    return false
  }
}

export function withoutNull(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null && value !== undefined))
}
