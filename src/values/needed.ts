import { type ErrorCode, PtcError } from '../common/errors.js'
import type { ValueRef } from '../common/values.js'

const sentences: Partial<Readonly<Record<ErrorCode, string>>> = {
  VALUE_MISSING: 'is missing from the value store',
  VALUE_CORRUPT: 'was changed in the value store',
  VALUE_STORE_UNAVAILABLE: "can't be read: the value store does not answer",
  VALUE_STORE_REFUSED: "can't be read: the value store refuses",
}

const hints: Partial<Readonly<Record<ErrorCode, string>>> = {
  VALUE_MISSING:
    'Was it removed by hand or by an expiry rule, or is the store one of another machine? docs/values.md has more.',
  VALUE_CORRUPT: 'Put the original back, or start again from before it: `temporal workflow reset`.',
}

/** An error of the store, told by what needed the value. */
export function neededError(thrown: unknown, neededBy: string, { sha256 }: ValueRef): unknown {
  if (!PtcError.isInstance(thrown)) return thrown
  const sentence = sentences[thrown.code]
  if (sentence === undefined) return thrown
  const hint = hints[thrown.code] ?? thrown.hint
  return new PtcError(thrown.code, `${neededBy} ${sentence} (${thrown.message})`, {
    cause: thrown,
    hint: hint === undefined ? `Its key is ${sha256}.` : hint,
  })
}
