import { formatPath } from './issues.js'

/** Deeper values overflow the stack of one parser or another on their way (zod, V8, Python's json). */
export const maximumDepth = 200

/** What a value is on the wire, or why it can't be there. */
export type JsonMeasure =
  | {
      readonly type: 'json'
      /** As UTF-8 JSON. */ readonly bytes: number
      /** Members that are undefined: JSON leaves them out. */ readonly hasUndefined: boolean
    }
  | { readonly type: 'not_json'; readonly path: string; readonly reason: string; readonly remedy: string | undefined }
  /** Over a limit; counting stopped there. */
  | { readonly type: 'endless'; readonly over: 'bytes' | 'values' }

/**
 * Is this JSON, exactly as it stands, and how many bytes of it? One string is copied at a time, so that megabytes cost no second
 * copy. Strict where `JSON.stringify` mangles in silence (Date, Map, NaN, class instances); one thing is allowed: an undefined
 * member of an object counts as absent, as optional fields do.
 *
 * @param countTo bytes
 * @param countValuesTo values in it, itself included
 */
export function measureJson(root: unknown, countTo: number, countValuesTo = Infinity): JsonMeasure {
  const path: PropertyKey[] = []
  let bytes = 0
  let values = 0
  let hasUndefined = false

  /** What ends the walk; it is `maximumDepth` deep at most, so the stack is safe. */
  const walk = (value: unknown): JsonMeasure | undefined => {
    values += 1
    if (values > countValuesTo) return { type: 'endless', over: 'values' }
    const scalar = scalarBytes(value, countTo - bytes)
    if (scalar !== undefined) return count(scalar)
    const problem = problemOf(value, path.length)
    if (problem !== undefined) return { type: 'not_json', path: formatPath(path), ...problem }
    return Array.isArray(value) ? walkArray(value) : walkObject(value as Readonly<Record<string, unknown>>)
  }

  const walkArray = (array: readonly unknown[]): JsonMeasure | undefined => {
    let end = count(2 + Math.max(0, array.length - 1))
    for (let index = 0; index < array.length && end === undefined; index++) end = walkMember(index, array[index])
    return end
  }

  const walkObject = (object: Readonly<Record<string, unknown>>): JsonMeasure | undefined => {
    let members = 0
    for (const key of Object.keys(object)) {
      const member = object[key]
      if (member === undefined) {
        hasUndefined = true
        continue
      }
      const end = count(stringBytes(key) + (members++ === 0 ? 1 : 2)) ?? walkMember(key, member)
      if (end !== undefined) return end
    }
    return count(2)
  }

  const walkMember = (key: PropertyKey, member: unknown): JsonMeasure | undefined => {
    path.push(key)
    const end = walk(member)
    path.pop()
    return end
  }

  const count = (more: number): JsonMeasure | undefined => {
    bytes += more
    return bytes > countTo ? { type: 'endless', over: 'bytes' } : undefined
  }

  return walk(root) ?? { type: 'json', bytes, hasUndefined }
}

function scalarBytes(value: unknown, room: number): number | undefined {
  if (value === null || value === true) return 4
  if (value === false) return 5
  if (typeof value === 'number' && Number.isFinite(value)) return String(value === 0 ? 0 : value).length
  // Escaping only adds: a string over the room need not be copied to know that it does not fit.
  if (typeof value === 'string') return value.length > room ? value.length + 2 : stringBytes(value)
  return undefined
}

function stringBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text))
}

type Problem = { readonly reason: string; readonly remedy: string | undefined }

/** Why a value that is no scalar is not a plain array or object either. */
function problemOf(value: unknown, depth: number): Problem | undefined {
  if (typeof value === 'number')
    return { reason: `it is ${value}, which JSON has no word for`, remedy: 'Return null, or leave it out.' }
  if (value === undefined) return { reason: 'it is undefined', remedy: 'Return null instead.' }
  if (typeof value === 'bigint') return { reason: 'it is a BigInt', remedy: 'Return String(value).' }
  if (typeof value !== 'object' || value === null) return { reason: `it is a ${typeof value}`, remedy: undefined }
  if (depth >= maximumDepth) {
    return {
      reason: `it is nested more than ${maximumDepth} levels deep, or contains itself`,
      remedy: 'Return a flatter value.',
    }
  }
  if (Array.isArray(value)) return undefined
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) return problemOfInstance(value)
  if (Object.getOwnPropertySymbols(value).length > 0) return { reason: 'it has a symbol as a key', remedy: undefined }
  return undefined
}

function problemOfInstance(value: object): Problem {
  if (value instanceof Date) return { reason: 'it is a Date', remedy: 'Return date.toISOString().' }
  if (value instanceof Map) return { reason: 'it is a Map', remedy: 'Return Object.fromEntries(map).' }
  if (value instanceof Set) return { reason: 'it is a Set', remedy: 'Return [...set].' }
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) {
    return { reason: 'it is binary data', remedy: "Return text, such as buffer.toString('base64')." }
  }
  if (value instanceof Promise) return { reason: 'it is a promise', remedy: 'Await it before you return.' }
  if (Symbol.asyncIterator in value)
    return { reason: 'it is a stream', remedy: 'Read it to its end and return the content.' }
  const name: unknown = value.constructor?.name
  return {
    reason:
      typeof name === 'string' && name !== ''
        ? `it is an instance of ${name.slice(0, 60)}`
        : 'it is an instance of a class',
    remedy: 'Return a plain object with the fields the caller needs.',
  }
}
