import { type ErrorCode, PtcError } from '../common/errors.js'
import type { ValueRef } from '../common/json/external-value.js'

const problems: Partial<Readonly<Record<ErrorCode, string>>> = {
  VALUE_MISSING: 'is missing from the value store',
  VALUE_CORRUPT: 'was changed in the value store',
  VALUE_STORE_UNAVAILABLE: "can't be read: the value store does not answer",
  VALUE_STORE_REFUSED: "can't be read: the value store refuses",
  ENCRYPTION_KEY_UNAVAILABLE: "can't be decrypted",
  DECRYPTION_FAILED: "can't be decrypted",
}

const hints: Partial<Readonly<Record<ErrorCode, string>>> = {
  VALUE_MISSING:
    'Was it removed by hand or by an expiry rule, or is the store one of another machine? docs/reference/values.md has more.',
  VALUE_CORRUPT: 'Put the original back, or start again from before it: `temporal workflow reset`.',
}

/** Adds the purpose of the value to an error of the store. */
export function toLoadError(thrown: unknown, neededBy: string, { sha256, stored }: ValueRef): unknown {
  if (!PtcError.isInstance(thrown)) return thrown
  const sentence = problems[thrown.code]
  if (sentence === undefined) return thrown
  const hint = hints[thrown.code] ?? thrown.hint
  return new PtcError(thrown.code, `${neededBy} ${sentence} (${thrown.message})`, {
    cause: thrown,
    hint: hint === undefined ? `Its key is ${stored?.sha256 ?? sha256}.` : hint,
  })
}
