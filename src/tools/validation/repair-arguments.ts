/*
 * Arguments that models write wrong: an object or an array as its JSON text, and null for an option that is not set.
 *
 * Owns: what may be changed in arguments that a schema has refused.
 * Boundary: the schema decides. Only the places that it complains about are changed, and only if the whole then fits:
 * a text where the schema allows a text stays a text, and null stays where null is allowed.
 *
 * Invariants:
 * 1. Only two changes are made: a text becomes the object or array whose JSON it is, and a null member of an object is
 *    left out. No number, truth value or element of an array is changed.
 * 2. Nothing is changed where it is not clear what the caller means: a place that two alternatives of a schema could
 *    describe differently stays.
 * 3. The arguments are plain JSON within the limits of values and depth, as before.
 */
import { z } from 'zod'
import type { JsonObject, JsonValue } from '../../common/json/json.js'
import { measureJson } from './measure-json.js'

/** A text may have another text in it. */
const maxRounds = 3

/** More issues are no slip of a model. */
const maxIssues = 100

/**
 * Returns arguments that fit the schema, or undefined. The given arguments, which do not fit, stay as they are. The
 * schema has no asynchronous checks.
 *
 * @param maxValues maximum number of values of the result
 * @throws what a check throws
 */
export function repairArguments(
  schema: z.ZodType<Record<string, unknown>>,
  args: JsonObject,
  maxValues: number,
): JsonObject | undefined {
  const repaired = structuredClone(args)
  for (let round = 0; round < maxRounds; round++) {
    const { error } = z.safeParse(schema, repaired)
    if (error === undefined) return repaired
    const paths = error.issues.length > maxIssues ? [] : pathsOf(error.issues)
    const changed = paths.filter((path) => change(repaired, path))
    if (changed.length === 0) return undefined
    if (measureJson(repaired, Infinity, maxValues).type !== 'json') return undefined // invariant 3
  }
  return z.safeParse(schema, repaired).success ? repaired : undefined
}

type Path = readonly PropertyKey[]

function pathsOf(issues: readonly z.core.$ZodIssue[], outer: Path = []): Path[] {
  return issues.flatMap((issue) => {
    const path = [...outer, ...issue.path]
    if (issue.code !== 'invalid_union') return [path]
    // An alternative with an issue at its root has another type.
    const possible = issue.errors.filter((errors) => errors.every((each) => each.path.length > 0))
    const [only, ...others] = possible
    if (only === undefined) return [path]
    return others.length === 0 ? pathsOf(only, path) : [] // invariant 2
  })
}

/** Changes the value at a path. Returns false where nothing may be changed. */
function change(root: JsonObject, path: Path): boolean {
  const key = path.at(-1)
  if (key === undefined || typeof key === 'symbol') return false
  let holder: JsonValue = root
  for (const step of path.slice(0, -1)) {
    const next = memberOf(holder, step)
    if (next === undefined) return false
    holder = next
  }
  const value = memberOf(holder, key)
  if (value === null && !Array.isArray(holder)) return Reflect.deleteProperty(holder as JsonObject, key)
  const parsed = typeof value === 'string' ? parseContainer(value) : undefined
  if (parsed === undefined) return false
  // An assignment to `__proto__` would change the prototype.
  const own = { value: parsed, writable: true, enumerable: true, configurable: true }
  return Reflect.defineProperty(holder as JsonObject, key, own)
}

function memberOf(holder: JsonValue, key: PropertyKey): JsonValue | undefined {
  if (typeof holder !== 'object' || holder === null || !Object.hasOwn(holder, key)) return undefined
  return (holder as Readonly<Record<PropertyKey, JsonValue>>)[key]
}

/** The object or array of a JSON text. */
function parseContainer(text: string): JsonValue | undefined {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}
