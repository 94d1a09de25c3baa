import { HeadTailBuffer } from '../common/text/head-tail-buffer.js'
import type { PendingBlock, TextParts, UserBlock } from '../common/runs/messages.js'
import { jsonToText } from '../common/text/text.js'
import { refOf } from '../common/json/external-value.js'
import type { Values } from './values.js'

/** Larger values are never loaded as a whole; of those, the text has head and tail of the JSON. */
const maxInMemoryBytes = 4 * 1024 * 1024

/** The joined text, truncated to its limit. */
export async function renderTextParts(
  values: Pick<Values, 'load' | 'excerpt'>,
  { parts, limit, suffix }: TextParts,
  signal: AbortSignal,
): Promise<string> {
  const output = new HeadTailBuffer(limit)
  for (const part of parts) {
    const ref = refOf(part)
    if (ref !== undefined && ref.bytes > maxInMemoryBytes)
      output.add(await values.excerpt(part, limit, neededBy, signal))
    else output.add(jsonToText(await values.load(part, neededBy, signal)))
  }
  if (suffix === '') return output.text
  return [output.text.trimEnd(), suffix].filter((piece) => piece !== '').join('\n')
}

const neededBy = 'what the model is to read'

/** A block of the next user message, with its external parts. */
export async function toUserBlock(
  values: Pick<Values, 'load' | 'excerpt'>,
  block: PendingBlock,
  signal: AbortSignal,
): Promise<UserBlock> {
  if (!('externalContent' in block)) return block
  const { externalContent, ...rest } = block
  const text = await renderTextParts(values, externalContent, signal)
  return { ...rest, content: text === '' ? '(empty)' : text }
}
