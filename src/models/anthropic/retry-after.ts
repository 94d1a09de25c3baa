/** A call that waits for longer would look like one that hangs: it asks again then, and is told again. */
const longestMs = 3_600_000

/**
 * Milliseconds the server asks to wait, from `retry-after-ms` or `retry-after` (seconds or an HTTP date), an hour at most;
 * undefined when it doesn't say, or says something that is no time.
 */
export function retryAfterMsOf(headers: Headers): number | undefined {
  const asked = askedMsOf(headers)
  return asked === undefined ? undefined : Math.min(Math.max(0, Math.ceil(asked)), longestMs)
}

function askedMsOf(headers: Headers): number | undefined {
  const milliseconds = numberOf(headers.get('retry-after-ms'))
  if (milliseconds !== undefined) return milliseconds
  const value = headers.get('retry-after')
  const seconds = numberOf(value)
  if (seconds !== undefined) return seconds * 1000
  const until = dateOf(value)
  if (until === undefined) return undefined
  // By the server's own clock: ours may be hours away from it.
  return until - (dateOf(headers.get('date')) ?? Date.now())
}

function numberOf(value: string | null): number | undefined {
  return value !== null && /^\d+(?:\.\d+)?$/.test(value) ? Number(value) : undefined
}

function dateOf(value: string | null): number | undefined {
  // Date.parse takes '-5' for a year; an HTTP date has letters.
  const date = value !== null && /[a-z]/i.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(date) ? undefined : date
}
