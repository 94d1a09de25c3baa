import { formatCompactNumber, pluralize } from '../../../common/text/text.js'
import { oneLine } from './sanitize.js'

interface CompactionFigures {
  readonly tokensBefore: number
  readonly tokensAfter?: number
  readonly shortened?: number
  readonly summarized?: number
  readonly problem?: string
}

/** `160k to 90k tokens: 12 results shortened, 30 messages summarized`. */
export function describeCompaction(figures: CompactionFigures): string {
  const { tokensBefore, tokensAfter, shortened = 0, summarized = 0, problem } = figures
  const before = formatCompactNumber(tokensBefore)
  if (tokensAfter === undefined) return `of ${before} tokens`
  const parts = [
    shortened > 0 ? `${pluralize(shortened, 'result')} shortened` : '',
    summarized > 0 ? `${pluralize(summarized, 'message')} summarized` : '',
    problem === undefined ? '' : `no summary: ${oneLine(problem)}`,
  ]
  const done = parts.filter((each) => each !== '').join(', ')
  return `${before} to ${formatCompactNumber(tokensAfter)} tokens: ${done === '' ? 'nothing to shorten' : done}`
}
