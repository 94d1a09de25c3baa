import { plural } from '../../common/text.js'
import { type Line, part, type Style } from './line.js'
import { neutralise } from './neutralise.js'
import { wrap } from './width.js'

export interface TextBlockOptions {
  readonly columns: number
  readonly style?: Style
  /** Lines that are shown; undefined: all, and long ones are wrapped instead of cut. */
  readonly limit: number | undefined
  /** Which lines say the most when not all are shown. Default `head`. */
  readonly keep?: 'head' | 'tail'
  /** Breaks long lines though not all are shown: prose, not code. */
  readonly prose?: boolean
}

/** A text of several lines: safe to print, and cut with a count of what is missing. */
export function textBlock(text: string, options: TextBlockOptions): readonly Line[] {
  const { columns, style = 'plain', limit, keep = 'head', prose = false } = options
  const whole = neutralise(text.replace(/^(?:[^\S\n]*\n)+/, '').trimEnd())
  if (whole === '') return []
  const lines = whole.split('\n').flatMap((line) => (prose || limit === undefined ? wrap(line, columns) : [line]))
  const shown = (some: readonly string[]): Line[] => some.map((line) => [part(line, style)])
  // A line that says "1 more line" could be that line.
  if (limit === undefined || lines.length <= limit + 1) return shown(lines)
  const missing: Line = [part(`… ${plural(lines.length - limit, 'more line')}`, 'dim')]
  return keep === 'head' ? [...shown(lines.slice(0, limit)), missing] : [missing, ...shown(lines.slice(-limit))]
}
