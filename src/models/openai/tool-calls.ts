import { randomUUID } from 'node:crypto'
import type { JsonObject } from '../../common/json/json.js'
import type { ToolUseBlock } from '../../common/runs/messages.js'
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

/** Whether a delta with the number of `draft`, or without one, begins another call. Some servers repeat id and name. */
function beginsCall(draft: ToolCallDraft, id: string, name: string): boolean {
  if (id !== '' && draft.id !== '') return id !== draft.id
  return name !== '' && draft.name !== '' && (draft.arguments === '' || parseObject(draft.arguments) !== undefined)
}

export function toToolUse(draft: ToolCallDraft, usedIds: ReadonlySet<string>, isTruncated: boolean): ToolUseBlock {
  const { name, arguments: text } = draft
  // Results refer to the id, so it must be unique.
  const id = draft.id === '' || usedIds.has(draft.id) ? `call_${randomUUID().replaceAll('-', '')}` : draft.id
  const input = text.trim() === '' ? {} : parseObject(text)
  if (input !== undefined) return { type: 'tool_use', id, name, input }
  // A partial program must not be executed.
  if (isTruncated) return { type: 'tool_use', id, name, input: {} }
  const problem = `The arguments of ${name} are not a JSON object, so it was not called. Call it again with valid JSON.`
  // The model reads what it wrote: some servers refuse a conversation with invalid arguments.
  return { type: 'tool_use', id, name, input: { invalid_json: text }, input_problem: problem }
}

function argumentsText(value: string | JsonObject | null | undefined): string {
  if (value == null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined
  } catch {
    return undefined
  }
}

export function withoutNull(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null && value !== undefined))
}
