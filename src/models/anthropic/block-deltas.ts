import type { JsonValue } from '../../common/json.js'
import type { UnknownBlock } from '../../common/messages.js'

/** A content block while it streams in. */
export interface BlockDraft {
  readonly block: UnknownBlock
  /** The JSON text of `input`, so far. */
  readonly inputJson: string
}

/** The draft with one delta added. */
export function applyDelta({ block, inputJson }: BlockDraft, delta: UnknownBlock): BlockDraft {
  switch (delta.type) {
    case 'input_json_delta':
      return { block, inputJson: inputJson + textOf(delta['partial_json']) }
    case 'citations_delta': {
      const citation = delta['citation'] ?? null
      return { block: { ...block, citations: [...listOf(block['citations']), citation] }, inputJson }
    }
    // A signature comes whole: the only text that replaces what was there.
    case 'signature_delta':
      return { block: { ...block, signature: textOf(delta['signature']) }, inputJson }
    default:
      return { block: merge(block, delta), inputJson }
  }
}

/** `text_delta`, `thinking_delta` and, by the same rule, what will be invented: text and lists grow, the rest is set. */
function merge(block: UnknownBlock, { type: _type, ...fields }: UnknownBlock): UnknownBlock {
  const grown = Object.entries(fields).map(([name, added]) => [name, grow(block[name], added)] as const)
  return { ...block, ...Object.fromEntries(grown) }
}

function grow(value: JsonValue | undefined, added: JsonValue): JsonValue {
  if (typeof value === 'string' && typeof added === 'string') return value + added
  if (Array.isArray(value) && Array.isArray(added)) return [...listOf(value), ...listOf(added)]
  return added
}

/** Characters a delta adds, for progress. */
export function charactersOf({ type: _type, signature: _signature, ...fields }: UnknownBlock): number {
  return Object.values(fields).reduce<number>((sum, value) => sum + textOf(value).length, 0)
}

function textOf(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : ''
}

function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? (value as readonly JsonValue[]) : []
}
