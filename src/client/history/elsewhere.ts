import { z } from 'zod'
import { type Held, type HeldElsewhere, heldElsewhere, type ValueRef, valueKey } from '../../common/values.js'

const shape = z.object({ [valueKey]: z.object({ sha256: z.string(), bytes: z.number(), preview: z.string() }) })

/** A value that is kept outside of the history, checked: an older history may have something else under that key. */
export const elsewhere: z.ZodType<HeldElsewhere> = shape.transform((held) => heldElsewhere(held[valueKey]))

/** A text, in place or kept elsewhere. */
export const heldString = z.union([z.string(), elsewhere])

/** The reference of a value that is kept elsewhere; undefined for everything else. */
export function refIn(value: unknown): ValueRef | undefined {
  // Asked for each call of each tree: the schema is for the few values that have the key.
  if (typeof value !== 'object' || value === null || !(valueKey in value)) return undefined
  return shape.safeParse(value).data?.[valueKey]
}

export function isSame(one: Held<string>, other: Held<string>): boolean {
  const ref = refIn(one)
  return ref === undefined ? one === other : ref.sha256 === refIn(other)?.sha256
}

/** UTF-8 bytes of a text, or of any other value as JSON; of what is kept elsewhere too. */
export function bytesOf(value: unknown): number {
  const ref = refIn(value)
  if (ref !== undefined) return ref.bytes
  return Buffer.byteLength(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))
}

/** The beginning of a text that is kept elsewhere. */
export function beginningOfText({ preview }: ValueRef): string {
  // It is JSON that breaks off, perhaps in the middle of an escape (of which `\\uXXXX` is the longest).
  for (let cut = 0; cut < 6; cut += 1) {
    const text = parsed(`${preview.slice(0, preview.length - cut)}"`) ?? parsed(preview.slice(0, preview.length - cut))
    if (text !== undefined) return text
  }
  return preview
}

function parsed(json: string): string | undefined {
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'string' ? value : undefined
  } catch {
    return undefined
  }
}
