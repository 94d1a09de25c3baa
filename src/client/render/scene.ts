import { plural } from '../../common/text.js'
import type { Attempted, Span } from '../history/index.js'
import { formatDuration } from './format.js'
import { type Line, part } from './line.js'

/** What every part of the drawing has to know. */
export interface Scene {
  /** Nothing is cut short. */
  readonly full: boolean
  /** When what has not ended is drawn, in milliseconds since the epoch: the run's end, or now. */
  readonly now: number
}

export function durationOf({ startedAt, endedAt }: Span, { now }: Scene): string {
  return formatDuration((endedAt ?? now) - startedAt)
}

/** Facts in one row: `1.2s · 3 attempts`; what is undefined is left out. */
export function facts(...all: readonly (string | undefined)[]): Line {
  const known = all.filter((fact) => fact !== undefined)
  return known.length === 0 ? [] : [part(known.join(' · '), 'dim')]
}

/** Attempts when there was more than one: one is what everybody expects. */
export function attemptsOf({ attempts }: Attempted): string | undefined {
  return attempts > 1 ? plural(attempts, 'attempt') : undefined
}
