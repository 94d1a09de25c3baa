import type { JsonValue } from './json.js'

/**
 * Marks the numbers of a JSON value that are floats for a program in a language with integers and floats, such as
 * Python. JavaScript has one type of number, and writes 30.0 as 30. A mask is 1 for a float, and an object for a
 * container: the masks of its members by key or index, or one for all items of a list under `*`. Runner:
 * `protocol/floats.py`. A mask that does not match its value changes nothing.
 */
export type FloatMask = 1 | { readonly [key: string]: FloatMask }

/** Longer masks are dropped. */
export const maxMaskCharacters = 4_000

const maxDepth = 200

/** Returns whether a value of a sandbox is a mask. The caller limits its size first. */
export function isFloatMask(value: unknown, depth = 0): value is FloatMask {
  if (value === 1) return true
  if (typeof value !== 'object' || value === null || Array.isArray(value) || depth > maxDepth) return false
  return Object.values(value).every((member) => isFloatMask(member, depth + 1))
}

/** Returns JSON in which the numbers of the mask have a fraction. */
export function stringifyFloats(value: JsonValue, mask: FloatMask | undefined): string {
  if (mask === undefined || typeof value !== 'object' || value === null) {
    const text = JSON.stringify(value)
    return mask === 1 && typeof value === 'number' && /^-?\d+$/.test(text) ? `${text}.0` : text
  }
  if (mask === 1) return JSON.stringify(value)
  const maskOf = (key: string): FloatMask | undefined => (Object.hasOwn(mask, key) ? mask[key] : undefined)
  if (Array.isArray(value)) {
    const all = maskOf('*')
    return `[${value.map((item: JsonValue, index) => stringifyFloats(item, all ?? maskOf(String(index)))).join(',')}]`
  }
  const members = Object.entries(value).map(
    ([key, member]) => `${JSON.stringify(key)}:${stringifyFloats(member, maskOf(key))}`,
  )
  return `{${members.join(',')}}`
}

/** A number, text, or another token of JSON. */
const token = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{},:]|-?\d[\d.eE+-]*|true|false|null/g

/** @returns the mask of a JSON text; undefined without a float that looks like an integer, or for a long mask */
export function floatMaskOf(text: string): FloatMask | undefined {
  // Most results have no such number. For them, the tokens need not be checked.
  if (!/\d\.0*(?![\d])/.test(text) && !/\d[eE]/.test(text)) return undefined
  let isNeeded = false
  let isDropped = false
  let depth = 0
  token.lastIndex = 0
  const next = (): string => (isDropped ? '' : (token.exec(text)?.[0] ?? ''))
  /** Stops reading: a mask that is too deep or too long would be written again at each level. */
  const drop = (): undefined => {
    isDropped = true
    return undefined
  }

  const read = (first: string): FloatMask | undefined => {
    if (/^-?\d/.test(first)) {
      if (!/[.eE]/.test(first)) return undefined
      isNeeded ||= Number.isInteger(Number(first))
      return 1
    }
    if (first !== '[' && first !== '{') return undefined
    depth += 1
    if (depth > maxDepth) return drop()
    const members: (readonly [string, FloatMask | undefined])[] = []
    for (let at = next(); at !== ']' && at !== '}' && at !== ''; at = next()) {
      if (at === ',') continue
      if (first === '[') members.push([String(members.length), read(at)])
      else {
        next() // the colon
        members.push([JSON.parse(at) as string, read(next())])
      }
    }
    depth -= 1
    const mask = first === '[' ? ofList(members) : ofMembers(members)
    return mask !== undefined && isTooLong(mask) ? drop() : mask
  }

  const mask = read(next())
  return isNeeded && !isDropped ? mask : undefined
}

function isTooLong(mask: FloatMask): boolean {
  return JSON.stringify(mask).length > maxMaskCharacters
}

type Members = readonly (readonly [string, FloatMask | undefined])[]

function ofList(items: Members): FloatMask | undefined {
  const first = items[0]?.[1]
  if (first === undefined) return ofMembers(items)
  const shown = JSON.stringify(first)
  return items.every(([, mask]) => mask !== undefined && JSON.stringify(mask) === shown)
    ? { '*': first }
    : ofMembers(items)
}

function ofMembers(members: Members): FloatMask | undefined {
  const floats = members.flatMap(([key, mask]) => (mask === undefined ? [] : [[key, mask] as const]))
  return floats.length === 0 ? undefined : Object.fromEntries(floats)
}
