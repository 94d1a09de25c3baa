import { formatPath } from './describe-issues.js'
import { takeStart } from '../../common/text/text.js'

/** Deeper values overflow the stack of some parsers (zod, V8, Python's json). */
const maxDepth = 200

/** The size of a value as JSON, or why it is not JSON. */
export type JsonMeasure =
  | {
      readonly type: 'json'
      /** Bytes of the value as UTF-8 JSON. */ readonly bytes: number
      /** Whether a member is undefined: JSON leaves it out. */ readonly hasUndefined: boolean
    }
  | { readonly type: 'not_json'; readonly path: string; readonly reason: string; readonly remedy: string | undefined }
  /** The value exceeds a limit, and counting stopped there. */
  | { readonly type: 'too_large'; readonly over: 'bytes' | 'values' }

/**
 * Checks that a value is JSON, and measures its bytes without serializing it as a whole. Strict where `JSON.stringify`
 * silently changes a value (Date, Map, NaN, class instances). Exception: undefined members of objects are allowed, and
 * not counted.
 *
 * @param maxBytes maximum bytes of JSON
 * @param maxValues maximum number of values, including the root
 */
export function measureJson(root: unknown, maxBytes: number, maxValues = Infinity): JsonMeasure {
  const path: PropertyKey[] = []
  let bytes = 0
  let values = 0
  let hasUndefined = false

  /** Returns undefined to continue. It is at most `maxDepth` deep, so the stack can't overflow. */
  const walk = (value: unknown): JsonMeasure | undefined => {
    values += 1
    if (values > maxValues) return { type: 'too_large', over: 'values' }
    const scalar = scalarBytes(value, maxBytes - bytes)
    if (scalar !== undefined) return addBytes(scalar)
    const problem = problemOf(value, path.length)
    if (problem !== undefined) return { type: 'not_json', path: formatPath(path), ...problem }
    return Array.isArray(value) ? walkArray(value) : walkObject(value as Readonly<Record<string, unknown>>)
  }

  const walkArray = (array: readonly unknown[]): JsonMeasure | undefined => {
    let result = addBytes(2 + Math.max(0, array.length - 1))
    for (let index = 0; index < array.length && result === undefined; index++) result = walkMember(index, array[index])
    return result
  }

  const walkObject = (object: Readonly<Record<string, unknown>>): JsonMeasure | undefined => {
    let members = 0
    for (const key of Object.keys(object)) {
      const member = object[key]
      if (member === undefined) {
        hasUndefined = true
        continue
      }
      const result = addBytes(stringBytes(key) + (members++ === 0 ? 1 : 2)) ?? walkMember(key, member)
      if (result !== undefined) return result
    }
    return addBytes(2)
  }

  const walkMember = (key: PropertyKey, member: unknown): JsonMeasure | undefined => {
    path.push(key)
    const result = walk(member)
    path.pop()
    return result
  }

  const addBytes = (added: number): JsonMeasure | undefined => {
    bytes += added
    return bytes > maxBytes ? { type: 'too_large', over: 'bytes' } : undefined
  }

  return walk(root) ?? { type: 'json', bytes, hasUndefined }
}

function scalarBytes(value: unknown, remaining: number): number | undefined {
  if (value === null || value === true) return 4
  if (value === false) return 5
  if (typeof value === 'number' && Number.isFinite(value)) return String(value === 0 ? 0 : value).length
  // Escaping only adds characters, so a string over the remaining bytes need not be serialized.
  if (typeof value === 'string') return value.length > remaining ? value.length + 2 : stringBytes(value)
  return undefined
}

function stringBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text))
}

type Problem = { readonly reason: string; readonly remedy: string | undefined }

/** Why a non-scalar value is not a plain array or object. */
function problemOf(value: unknown, depth: number): Problem | undefined {
  if (typeof value === 'number')
    return { reason: `it is ${value}, which JSON can't represent`, remedy: 'Return null, or leave it out.' }
  if (value === undefined) return { reason: 'it is undefined', remedy: 'Return null instead.' }
  if (typeof value === 'bigint') return { reason: 'it is a BigInt', remedy: 'Return String(value).' }
  if (typeof value !== 'object' || value === null) return { reason: `it is a ${typeof value}`, remedy: undefined }
  if (depth >= maxDepth) {
    return {
      reason: `it is nested more than ${maxDepth} levels deep, or contains itself`,
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
        ? `it is an instance of ${takeStart(name, 60)}`
        : 'it is an instance of a class',
    remedy: 'Return a plain object with the fields the caller needs.',
  }
}
