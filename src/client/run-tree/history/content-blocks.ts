import { z } from 'zod'
import { executeCodeTool } from '../../../common/names.js'
import type { Externalizable } from '../../../common/json/external-value.js'
import { previewText, byteLengthOf, externalizableString, parseRef } from '../values/external-values.js'
import { type Block, textParts } from './payload-schemas.js'

/** Returns the UTF-8 bytes of the content of a block, without its JSON syntax and ids. */
function blockByteLength(block: Block): number {
  switch (block.type) {
    case 'text':
      return byteLengthOf(block['text'])
    case 'tool_use':
      return byteLengthOf(block['name']) + inputByteLength(block['input'])
    case 'tool_result':
      return 'externalContent' in block ? textPartsByteLength(block['externalContent']) : byteLengthOf(block['content'])
    default:
      return byteLengthOf(block)
  }
}

/** Returns the bytes of an input. Only code can be an external part of it. */
function inputByteLength(input: unknown): number {
  const ref = typeof input === 'object' && input !== null && 'code' in input ? parseRef(input.code) : undefined
  return ref?.bytes ?? byteLengthOf(input)
}

function textPartsByteLength(externalContent: unknown): number {
  const { data } = textParts.safeParse(externalContent)
  if (!data) return byteLengthOf(externalContent)
  const bytes = data.parts.reduce<number>((sum, part) => sum + byteLengthOf(part), 0)
  return Math.min(bytes, data.limit) + byteLengthOf(data.suffix)
}

export function totalByteLength(blocks: readonly Block[]): number {
  return blocks.reduce((sum, block) => sum + blockByteLength(block), 0)
}

export function joinTextBlocks(blocks: readonly Block[]): string {
  return blocks.flatMap((block) => (typeof block['text'] === 'string' ? [block['text']] : [])).join('\n\n')
}

/** A tool use of `execute_code`. */
export interface CodeToolUse {
  readonly toolUseId: string
  readonly code: Externalizable<string>
  /** The language that the model named, which may be unknown. Undefined: none. */
  readonly language?: string | undefined
}

/** Stop reasons of incomplete or declined replies. Their tool uses are not executed. */
const unexecutedStopReasons = new Set(['max_tokens', 'refusal', 'pause_turn', 'model_context_window_exceeded'])

export function executesToolUses(stopReason: string): boolean {
  return !unexecutedStopReasons.has(stopReason)
}

const codeInput = z.object({ code: externalizableString, language: z.string().optional().catch(undefined) })

export function codeToolUses(blocks: readonly Block[]): readonly CodeToolUse[] {
  return blocks.flatMap(({ type, id, name, input }) => {
    if (type !== 'tool_use' || name !== executeCodeTool || typeof id !== 'string') return []
    const { code, language } = codeInput.safeParse(input).data ?? {}
    return code === undefined ? [] : [{ toolUseId: id, code, language }]
  })
}

/** Returns the texts of tool results by tool_use id. An external text is replaced by its preview. */
export function toolResults(blocks: readonly Block[]): ReadonlyMap<string, string> {
  return new Map(
    blocks.flatMap((block) => {
      const { type, tool_use_id: id, content, externalContent } = block
      if (type !== 'tool_result' || typeof id !== 'string') return []
      const text = typeof content === 'string' ? content : joinTextParts(externalContent)
      return text === undefined ? [] : [[id, text]]
    }),
  )
}

function joinTextParts(externalContent: unknown): string | undefined {
  const { data } = textParts.safeParse(externalContent)
  if (!data) return undefined
  const parts = data.parts.map((part) => {
    const ref = parseRef(part)
    return ref ? previewText(ref) : typeof part === 'string' ? part : JSON.stringify(part)
  })
  return [...parts, data.suffix].join('\n')
}
