import { pluralize } from '../../../common/text/text.js'
import type { Attempted, Span } from '../../../client/run-tree/index.js'
import { formatDuration } from '../../../common/text/format.js'
import { type Line, part } from '../text/line.js'

/** Options of all parts of the drawing. */
export interface RenderContext {
  /** Nothing is truncated. */
  readonly full: boolean
  /** End of open spans, in milliseconds since the epoch: the run's end, or now. */
  readonly now: number
}

export function formatSpan({ startedAt, endedAt }: Span, { now }: RenderContext): string {
  return formatDuration((endedAt ?? now) - startedAt)
}

/** Facts in one line: `1.2s · 3 attempts`; undefined ones are left out. */
export function joinFacts(...all: readonly (string | undefined)[]): Line {
  const known = all.filter((fact) => fact !== undefined)
  return known.length === 0 ? [] : [part(known.join(' · '), 'dim')]
}

/** The number of attempts if there was more than one. */
export function formatAttempts({ attempts }: Attempted): string | undefined {
  return attempts > 1 ? pluralize(attempts, 'attempt') : undefined
}
