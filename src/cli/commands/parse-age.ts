import { InvalidArgumentError } from 'commander'

const units = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const
/** Longest time between storing a value and the event that refers to it. */
const minimumMs = units.h

/** Parser for commander: an age such as `90m`, `12h` or `7d`, in milliseconds; at least an hour. */
export function parseAge(text: string): number {
  const ms = parseDuration(text)
  if (ms >= minimumMs) return ms
  throw new InvalidArgumentError('It must be at least 1h: no history may refer yet to a value that was just stored.')
}

/** Parser for commander: a time such as `90m`, `12h` or `7d`, in milliseconds. */
export function parseDuration(text: string): number {
  const [, number = '', unit = 'h'] = /^(\d+(?:\.\d+)?)([mhd])$/.exec(text) ?? []
  if (number === '') throw new InvalidArgumentError('It must be an age such as 90m, 12h or 7d.')
  return Number(number) * units[unit as keyof typeof units]
}
