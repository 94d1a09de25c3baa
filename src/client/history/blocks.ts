import { executeCodeTool } from '../../common/names.js'
import type { Block } from './payload-shapes.js'

/** UTF-8 bytes of what a block says, its JSON and ids left out. */
export function blockBytes(block: Block): number {
  switch (block.type) {
    case 'text':
      return bytesOf(block['text'])
    case 'tool_use':
      return bytesOf(block['name']) + bytesOf(block['input'])
    case 'tool_result':
      return bytesOf(block['content'])
    default:
      return bytesOf(block)
  }
}

/** UTF-8 bytes of a text, or of any other value as JSON. */
export function bytesOf(value: unknown): number {
  return Buffer.byteLength(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
}

export function totalBytes(blocks: readonly Block[]): number {
  return blocks.reduce((sum, block) => sum + blockBytes(block), 0)
}

export function textOfBlocks(blocks: readonly Block[]): string {
  return blocks.flatMap((block) => (typeof block['text'] === 'string' ? [block['text']] : [])).join('\n\n')
}

/** A cell the model asked for. */
export interface CodeUse {
  readonly toolUseId: string
  readonly code: string
}

/** Replies with these reasons are cut or declined: nothing in them is run. */
const notServed = new Set(['max_tokens', 'refusal', 'pause_turn', 'model_context_window_exceeded'])

export function isServed(stopReason: string): boolean {
  return !notServed.has(stopReason)
}

export function codeUses(blocks: readonly Block[]): readonly CodeUse[] {
  return blocks.flatMap(({ type, id, name, input }) => {
    if (type !== 'tool_use' || name !== executeCodeTool || typeof id !== 'string') return []
    const code = typeof input === 'object' && input !== null && 'code' in input ? input.code : undefined
    return typeof code === 'string' ? [{ toolUseId: id, code }] : []
  })
}

/** What the model was told of its tool uses in the last message, by tool_use id. */
export function toolResults(blocks: readonly Block[]): ReadonlyMap<string, string> {
  return new Map(
    blocks.flatMap((block) => {
      const { type, tool_use_id: id, content } = block
      return type === 'tool_result' && typeof id === 'string' && typeof content === 'string' ? [[id, content]] : []
    }),
  )
}
