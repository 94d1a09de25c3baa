import { pluralize } from '../../../common/text/text.js'
import type { Attempted, Span } from '../../../client/run-tree/index.js'
import { formatDuration } from '../../../common/text/format.js'
import { type Line, part } from '../text/line.js'

export interface RenderContext {
  /** Shows everything untruncated. */
  readonly full: boolean
  /** The time at which open spans end, in milliseconds since the epoch: the end of the run, or now. */
  readonly now: number
}

export function formatSpan({ startedAt, endedAt }: Span, { now }: RenderContext): string {
  return formatDuration((endedAt ?? now) - startedAt)
}

/** Facts in one line, such as `1.2s · 3 attempts`. Undefined facts are left out. */
export function joinFacts(...all: readonly (string | undefined)[]): Line {
  const known = all.filter((fact) => fact !== undefined)
  return known.length === 0 ? [] : [part(known.join(' · '), 'dim')]
}

/** The number of attempts when there was more than one. */
export function formatAttempts({ attempts }: Attempted): string | undefined {
  return attempts > 1 ? pluralize(attempts, 'attempt') : undefined
}
