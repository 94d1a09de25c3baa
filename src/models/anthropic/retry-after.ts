/**
 * Milliseconds the server asks to wait, from `retry-after-ms` or `retry-after` (seconds or an HTTP date); undefined when
 * it doesn't say, or says something that is no time.
 */
export function retryAfterMsOf(headers: Headers, now: number = Date.now()): number | undefined {
  const milliseconds = numberOf(headers.get('retry-after-ms'))
  if (milliseconds !== undefined) return Math.ceil(milliseconds)
  const value = headers.get('retry-after')
  const seconds = numberOf(value)
  if (seconds !== undefined) return Math.ceil(seconds * 1000)
  const date = dateOf(value)
  return date === undefined ? undefined : Math.max(0, date - now)
}

function numberOf(value: string | null): number | undefined {
  return value !== null && /^\d+(?:\.\d+)?$/.test(value) ? Number(value) : undefined
}

function dateOf(value: string | null): number | undefined {
  // Date.parse takes '-5' for a year; an HTTP date has letters.
  const date = value !== null && /[a-z]/i.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(date) ? undefined : date
}
