import { pluralize } from '../../../common/text/text.js'
import { type Line, part, type Style } from './line.js'
import { sanitize } from './sanitize.js'
import { wrap } from './display-width.js'

interface TextBlockOptions {
  readonly columns: number
  readonly style?: Style
  /** Maximum number of lines. Undefined: all lines, and long lines are wrapped instead of truncated. */
  readonly limit: number | undefined
  /** Which lines are kept under a limit. Default `head`. */
  readonly keep?: 'head' | 'tail'
  /** Wraps long lines under a limit too. */
  readonly prose?: boolean
}

/** Sanitizes a text and limits its lines, with a count of the omitted ones. */
export function textBlock(text: string, options: TextBlockOptions): readonly Line[] {
  const { columns, style = 'plain', limit, keep = 'head', prose = false } = options
  const sanitized = sanitize(text.replace(/^(?:[^\S\n]*\n)+/, '').trimEnd())
  if (sanitized === '') return []
  const lines = sanitized.split('\n').flatMap((line) => (prose || limit === undefined ? wrap(line, columns) : [line]))
  const toLines = (texts: readonly string[]): Line[] => texts.map((line) => [part(line, style)])
  // A line that says "1 more line" takes as much space as that line.
  if (limit === undefined || lines.length <= limit + 1) return toLines(lines)
  const missing: Line = [part(`… ${pluralize(lines.length - limit, 'more line')}`, 'dim')]
  return keep === 'head' ? [...toLines(lines.slice(0, limit)), missing] : [missing, ...toLines(lines.slice(-limit))]
}
