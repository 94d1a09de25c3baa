import { executeCodeTool } from '../../common/names.js'
import type { Held } from '../../common/values.js'
import { beginningOfText, bytesOf, heldString, refIn } from './elsewhere.js'
import { type Block, heldText } from './payload-shapes.js'

/** UTF-8 bytes of what a block says, its JSON and ids left out. */
export function blockBytes(block: Block): number {
  switch (block.type) {
    case 'text':
      return bytesOf(block['text'])
    case 'tool_use':
      return bytesOf(block['name']) + bytesOfInput(block['input'])
    case 'tool_result':
      return 'held' in block ? bytesOfHeldText(block['held']) : bytesOf(block['content'])
    default:
      return bytesOf(block)
  }
}

/** The one input of which a part may be kept elsewhere is code. */
function bytesOfInput(input: unknown): number {
  const ref = typeof input === 'object' && input !== null && 'code' in input ? refIn(input.code) : undefined
  return ref?.bytes ?? bytesOf(input)
}

function bytesOfHeldText(held: unknown): number {
  const { data } = heldText.safeParse(held)
  if (!data) return bytesOf(held)
  const bytes = data.parts.reduce<number>((sum, part) => sum + bytesOf(part), 0)
  return Math.min(bytes, data.limit) + bytesOf(data.after)
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
  readonly code: Held<string>
}

/** Replies with these reasons are cut or declined: nothing in them is run. */
const notServed = new Set(['max_tokens', 'refusal', 'pause_turn', 'model_context_window_exceeded'])

export function isServed(stopReason: string): boolean {
  return !notServed.has(stopReason)
}

export function codeUses(blocks: readonly Block[]): readonly CodeUse[] {
  return blocks.flatMap(({ type, id, name, input }) => {
    if (type !== 'tool_use' || name !== executeCodeTool || typeof id !== 'string') return []
    const { data } = heldString.safeParse(typeof input === 'object' && input !== null && 'code' in input && input.code)
    return data === undefined ? [] : [{ toolUseId: id, code: data }]
  })
}

/** What the model was told of its tool uses, by tool_use id; of what is kept elsewhere the beginning. */
export function toolResults(blocks: readonly Block[]): ReadonlyMap<string, string> {
  return new Map(
    blocks.flatMap((block) => {
      const { type, tool_use_id: id, content, held } = block
      if (type !== 'tool_result' || typeof id !== 'string') return []
      const text = typeof content === 'string' ? content : textOfHeld(held)
      return text === undefined ? [] : [[id, text]]
    }),
  )
}

function textOfHeld(held: unknown): string | undefined {
  const { data } = heldText.safeParse(held)
  if (!data) return undefined
  const parts = data.parts.map((part) => {
    const ref = refIn(part)
    return ref ? beginningOfText(ref) : typeof part === 'string' ? part : JSON.stringify(part)
  })
  return [...parts, data.after].join('\n')
}
