/** Maximum delay in milliseconds. After it, the next attempt gets the current delay from the server. */
const maxRetryAfterMs = 3_600_000

/**
 * The delay that the server requests by `retry-after-ms` or `retry-after` (seconds or an HTTP date), in milliseconds,
 * at most an hour; undefined without a valid header.
 */
export function retryAfterMsOf(headers: Headers): number | undefined {
  const asked = requestedMsOf(headers)
  return asked === undefined ? undefined : Math.min(Math.max(0, Math.ceil(asked)), maxRetryAfterMs)
}

function requestedMsOf(headers: Headers): number | undefined {
  const milliseconds = numberOf(headers.get('retry-after-ms'))
  if (milliseconds !== undefined) return milliseconds
  const value = headers.get('retry-after')
  const seconds = numberOf(value)
  if (seconds !== undefined) return seconds * 1000
  const until = dateOf(value)
  if (until === undefined) return undefined
  // The server's clock counts: the local one may differ by hours.
  return until - (dateOf(headers.get('date')) ?? Date.now())
}

function numberOf(value: string | null): number | undefined {
  return value !== null && /^\d+(?:\.\d+)?$/.test(value) ? Number(value) : undefined
}

function dateOf(value: string | null): number | undefined {
  // Date.parse reads '-5' as a year; an HTTP date contains letters.
  const date = value !== null && /[a-z]/i.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(date) ? undefined : date
}
