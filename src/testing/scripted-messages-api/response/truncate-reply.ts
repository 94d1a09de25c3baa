import { countCharacters, type ReplyBlock } from './reply-block.js'
import { charactersPerToken } from '../request/token-count.js'

interface TruncatedReply {
  readonly blocks: readonly ReplyBlock[]
  /** Stop reason of a cut reply; undefined for a complete one. */
  readonly stopReason?: 'max_tokens' | 'stop_sequence'
  readonly stopSequence?: string
}

/** Cuts a scripted reply where a real model would stop: at `max_tokens` or at a stop sequence in its text. */
export function truncateReply(
  blocks: readonly ReplyBlock[],
  maxTokens: number,
  stopSequences: readonly string[],
): TruncatedReply {
  const kept: ReplyBlock[] = []
  let remaining = Math.floor(maxTokens * charactersPerToken)
  for (const block of blocks) {
    const stop = firstStop(block, stopSequences)
    const wanted = stop === undefined ? block : truncateBlock(block, stop.index)
    const size = countCharacters(wanted)
    if (size > remaining) {
      const text = wanted.streamed?.text.length ?? 0
      const length = text - (size - remaining)
      if (length > 0) kept.push(truncateBlock(wanted, length))
      return { blocks: kept, stopReason: 'max_tokens' }
    }
    kept.push(wanted)
    if (stop !== undefined) return { blocks: kept, stopReason: 'stop_sequence', stopSequence: stop.sequence }
    remaining -= size
  }
  return { blocks: kept }
}

function firstStop(block: ReplyBlock, sequences: readonly string[]): { index: number; sequence: string } | undefined {
  const text = block.streamed?.delta === 'text_delta' ? block.streamed.text : ''
  return sequences
    .map((sequence) => ({ sequence, index: sequence === '' ? -1 : text.indexOf(sequence) }))
    .filter(({ index }) => index >= 0)
    .sort((a, b) => a.index - b.index)[0]
}

function truncateBlock(block: ReplyBlock, length: number): ReplyBlock {
  if (block.streamed === null) return block
  return { ...block, streamed: { ...block.streamed, text: block.streamed.text.slice(0, length) } }
}
