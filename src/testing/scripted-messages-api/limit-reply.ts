import { charactersOf, type ReplyBlock } from './reply-block.js'
import { charactersPerToken } from './token-count.js'

export interface LimitedReply {
  readonly blocks: readonly ReplyBlock[]
  /** Why the model had to stop early; undefined when it did not. */
  readonly stopReason?: 'max_tokens' | 'stop_sequence'
  readonly stopSequence?: string
}

/** Cuts a scripted reply where a real model would have had to stop: at `max_tokens` or at a stop sequence in its text. */
export function limitReply(
  blocks: readonly ReplyBlock[],
  maxTokens: number,
  stopSequences: readonly string[],
): LimitedReply {
  const kept: ReplyBlock[] = []
  let room = Math.floor(maxTokens * charactersPerToken)
  for (const block of blocks) {
    const stop = firstStop(block, stopSequences)
    const wanted = stop === undefined ? block : shortened(block, stop.index)
    const size = charactersOf(wanted)
    if (size > room) {
      const text = wanted.streamed?.text.length ?? 0
      const fitting = text - (size - room)
      if (fitting > 0) kept.push(shortened(wanted, fitting))
      return { blocks: kept, stopReason: 'max_tokens' }
    }
    kept.push(wanted)
    if (stop !== undefined) return { blocks: kept, stopReason: 'stop_sequence', stopSequence: stop.sequence }
    room -= size
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

function shortened(block: ReplyBlock, length: number): ReplyBlock {
  if (block.streamed === null) return block
  return { ...block, streamed: { ...block.streamed, text: block.streamed.text.slice(0, length) } }
}
