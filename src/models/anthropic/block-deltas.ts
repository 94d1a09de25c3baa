import type { JsonValue } from '../../common/json/json.js'
import type { UnknownBlock } from '../../common/agent/messages.js'
import { inputText } from '../reply/tool-input.js'

/** A content block of which only some deltas have arrived. */
export interface BlockDraft {
  readonly block: UnknownBlock
  /** The JSON text of `input`, so far. */
  readonly inputJson: string
}

/** The draft with one delta added. */
export function applyDelta({ block, inputJson }: BlockDraft, delta: UnknownBlock): BlockDraft {
  switch (delta.type) {
    case 'input_json_delta':
      return { block, inputJson: inputJson + inputText(delta['partial_json']) }
    case 'citations_delta': {
      const citation = delta['citation'] ?? null
      return { block: { ...block, citations: [...listOrEmpty(block['citations']), citation] }, inputJson }
    }
    // A signature is complete, and replaces the empty signature of the block.
    case 'signature_delta':
      return { block: { ...block, signature: stringOrEmpty(delta['signature']) }, inputJson }
    default:
      return { block: merge(block, delta), inputJson }
  }
}

/** `text_delta`, `thinking_delta` and future types: strings and lists are extended, other fields are replaced. */
function merge(block: UnknownBlock, { type: _type, ...fields }: UnknownBlock): UnknownBlock {
  const merged = Object.entries(fields).map(([name, added]) => [name, append(block[name], added)] as const)
  return { ...block, ...Object.fromEntries(merged) }
}

function append(value: JsonValue | undefined, added: JsonValue): JsonValue {
  if (typeof value === 'string' && typeof added === 'string') return value + added
  if (Array.isArray(value) && Array.isArray(added)) return [...listOrEmpty(value), ...listOrEmpty(added)]
  return added
}

/** Characters that a delta adds, for progress reports. */
export function charactersOf({ type: _type, signature: _signature, ...fields }: UnknownBlock): number {
  return Object.values(fields).reduce<number>((sum, value) => sum + stringOrEmpty(value).length, 0)
}

function stringOrEmpty(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}

function listOrEmpty(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : []
}
