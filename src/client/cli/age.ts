import { InvalidArgumentError } from 'commander'

const units = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const
/** What is put, and the event that refers to it, may lie so far apart. */
const leastMs = units.h

/** For commander: an age such as `90m`, `12h` or `7d`, in milliseconds; at least an hour. */
export function age(text: string): number {
  const [, number = '', unit = 'h'] = /^(\d+(?:\.\d+)?)([mhd])$/.exec(text) ?? []
  if (number === '') throw new InvalidArgumentError('It must be an age such as 90m, 12h or 7d.')
  const ms = Number(number) * units[unit as keyof typeof units]
  if (ms >= leastMs) return ms
  throw new InvalidArgumentError('It must be at least 1h: what was just put may not be in a history yet.')
}
