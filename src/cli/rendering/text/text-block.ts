import { pluralize } from '../../../common/text/text.js'
import type { TextRange } from '../../../common/text/text-ranges.js'
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
  /** The parts of the text that were printed to stderr: their lines are yellow. */
  readonly stderr?: readonly TextRange[]
}

/** Sanitizes a text and limits its lines, with a count of the omitted ones. */
export function textBlock(text: string, options: TextBlockOptions): readonly Line[] {
  const { columns, style = 'plain', limit, keep = 'head', prose = false, stderr = [] } = options
  const blank = /^(?:[^\S\n]*\n)+/.exec(text)?.[0].length ?? 0
  const trimmed = text.slice(blank).trimEnd()
  if (trimmed === '') return []
  let position = blank
  const lines = trimmed.split('\n').flatMap((line) => {
    const from = position
    position += line.length + 1
    const isError = stderr.some(([start, end]) => start < from + Math.max(line.length, 1) && end > from)
    const sanitized = sanitize(line.replace(/\r$/, ''))
    const shown = prose || limit === undefined ? wrap(sanitized, columns) : [sanitized]
    return shown.map((each): Line => [part(each, isError ? 'yellow' : style)])
  })
  // A line that says "1 more line" takes as much space as that line.
  if (limit === undefined || lines.length <= limit + 1) return lines
  const missing: Line = [part(`… ${pluralize(lines.length - limit, 'more line')}`, 'dim')]
  return keep === 'head' ? [...lines.slice(0, limit), missing] : [missing, ...lines.slice(-limit)]
}
