import { z } from 'zod'
import { type Duration, parseDuration } from '../common/text/duration.js'

/** Schema of a duration in the configuration; its output is milliseconds. */
export function durationOption(fallback: Duration) {
  return z
    .custom<Duration>(
      (value) => parseDuration(value) !== undefined,
      'must be a duration such as "500ms", "30s" or "2m"',
    )
    .default(fallback)
    .transform((value) => parseDuration(value) ?? 0)
}
