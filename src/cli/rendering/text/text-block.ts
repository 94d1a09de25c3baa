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
  const wraps = prose || limit === undefined
  let position = blank
  const printed = trimmed.split('\n').map((line) => {
    const from = position
    position += line.length + 1
    return { line, from }
  })
  const toLines = ({ line, from }: (typeof printed)[number]): Line[] => {
    const isError = stderr.some(([start, end]) => start < from + Math.max(line.length, 1) && end > from)
    const sanitized = sanitize(line.replace(/\r$/, ''))
    const shown = wraps ? wrap(sanitized, columns) : [sanitized]
    return shown.map((each): Line => [part(each, isError ? 'yellow' : style)])
  }
  const select = <Each>(all: readonly Each[]): readonly Each[] => {
    return keep === 'head' ? all.slice(0, limit) : all.slice(-(limit ?? 0))
  }
  // A line that says "1 more line" takes as much space as that line.
  const isTooLong = (count: number) => limit !== undefined && count > limit + 1
  // An output may have a million lines, so only those that are shown are sanitized.
  const shown = (!wraps && isTooLong(printed.length) ? select(printed) : printed).flatMap(toLines)
  const count = wraps ? shown.length : printed.length
  if (limit === undefined || !isTooLong(count)) return shown
  const missing: Line = [part(`… ${pluralize(count - limit, 'more line')}`, 'dim')]
  return keep === 'head' ? [...select(shown), missing] : [missing, ...select(shown)]
}
