import { HeadTailBuffer } from '../common/text/head-tail-buffer.js'
import { TerminalText } from '../common/text/terminal-text.js'
import type { PendingBlock, TextParts, UserBlock } from '../common/agent/messages.js'
import { cutIndex, jsonToText, takeStart } from '../common/text/text.js'
import { type Externalizable, refOf } from '../common/json/external-value.js'
import type { Values } from './values.js'

/** Larger values are never loaded as a whole. The text has only head and tail of their JSON. */
const maxInMemoryBytes = 4 * 1024 * 1024

/** Returns the joined text, truncated to its limit. */
export async function renderTextParts(
  values: Pick<Values, 'load' | 'excerpt'>,
  text: TextParts,
  signal: AbortSignal,
): Promise<string> {
  return (await renderParts(values, text, signal)).text
}

async function renderParts(
  values: Pick<Values, 'load' | 'excerpt'>,
  { parts, limit, suffix, isTerminal }: TextParts,
  signal: AbortSignal,
): Promise<{ readonly text: string; readonly isCut: boolean }> {
  const output = new HeadTailBuffer(limit)
  const terminal = isTerminal ? new TerminalText((text) => output.add(text)) : undefined
  let isCut = false
  for (const part of parts) {
    const ref = refOf(part)
    if (ref !== undefined && ref.bytes > maxInMemoryBytes) {
      isCut = true
      terminal?.flush()
      output.add(await values.excerpt(part, limit, neededBy, signal))
    } else (terminal ?? output).add(jsonToText(await values.load(part, neededBy, signal)))
  }
  terminal?.end()
  isCut ||= output.length > limit
  if (suffix === '') return { text: output.text, isCut }
  return { text: [output.text.trimEnd(), suffix].filter((piece) => piece !== '').join('\n'), isCut }
}

/**
 * Returns one page of a text in parts, without loading the text before it into memory. A page begins and ends between
 * characters, so all pages together are the text.
 *
 * @returns the page, its start (before an offset within a surrogate pair), and whether more text follows
 */
export async function readPage(
  values: Pick<Values, 'load' | 'readText'>,
  parts: readonly Externalizable[],
  { offset, limit: units }: { readonly offset: number; readonly limit: number },
  signal: AbortSignal,
): Promise<{ readonly page: string; readonly start: number; readonly hasMore: boolean }> {
  // A surrogate pair has two units.
  const limit = Math.max(units, 2)
  // The range includes the unit before the page and the unit after it: they show whether a cut would split a character.
  const first = Math.max(offset - 1, 0)
  const maximum = offset - first + limit + 1
  let skip = first
  let text = ''
  for await (const piece of pieces(values, parts, signal)) {
    text += piece.slice(skip, skip + maximum - text.length)
    skip = Math.max(0, skip - piece.length)
    if (text.length === maximum) break
  }
  const from = cutIndex(text, offset - first)
  const page = takeStart(text.slice(from), limit)
  return { page, start: first + from, hasMore: text.length > from + page.length }
}

async function* pieces(
  values: Pick<Values, 'load' | 'readText'>,
  parts: readonly Externalizable[],
  signal: AbortSignal,
): AsyncGenerator<string> {
  for (const part of parts) {
    const ref = refOf(part)
    if (ref !== undefined && ref.bytes > maxInMemoryBytes) yield* values.readText(ref, neededBy, signal)
    else yield jsonToText(await values.load(part, neededBy, signal))
  }
}

const neededBy = 'what the model is to read'

/**
 * Returns a block of the next user message with its external parts loaded, and these parts if the text was truncated.
 */
export async function toUserBlock(
  values: Pick<Values, 'load' | 'excerpt'>,
  block: PendingBlock,
  signal: AbortSignal,
): Promise<{ readonly block: UserBlock; readonly whole?: readonly Externalizable[] }> {
  if (!('externalContent' in block)) return { block }
  const { externalContent, ...rest } = block
  const { text, isCut } = await renderParts(values, externalContent, signal)
  return {
    block: { ...rest, content: text === '' ? '(empty)' : text },
    ...(isCut && { whole: externalContent.parts }),
  }
}
