import { z } from 'zod'
import { describeIssues } from './describe-issues.js'
import { withoutInherited } from './inherited-members.js'
import { TimeLimitError, interruptAfter } from './time-limit.js'

/**
 * A value parsed by a schema. `issues` is for a model or a person. `isUndecided`: the check was interrupted, so another
 * process may accept the value.
 */
export type ParsedValue<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly issues: string; readonly isUndecided?: true }

/**
 * Parses a value within a time limit.
 *
 * @throws $ZodAsyncError for a schema with asynchronous checks, and what a check throws
 */
export function parseValueNow<T>(schema: z.ZodType<T>, given: unknown, limitMs?: number): ParsedValue<T> {
  const { value, restore } = withoutInherited(schema, given)
  try {
    if (isQuick(schema, value)) return toParsed(z.safeParse(schema, value))
    return orUndecided(() => interruptAfter(() => toParsed(z.safeParse(schema, value)), limitMs))
  } finally {
    restore()
  }
}

/**
 * Parses a value within a time limit. The limit does not cover the time after an asynchronous check.
 *
 * @throws what a check throws
 */
export async function parseValue<T>(schema: z.ZodType<T>, given: unknown, limitMs?: number): Promise<ParsedValue<T>> {
  const { value, restore } = withoutInherited(schema, given)
  try {
    if (isQuick(schema, value)) return toParsed(z.safeParse(schema, value))
    const result = await orUndecided(() => interruptAfter(() => z.safeParseAsync(schema, value), limitMs))
    if ('ok' in result) return result
    return orUndecided(() => interruptAfter(() => toParsed(result), limitMs))
  } finally {
    restore()
  }
}

function toParsed<T>(result: z.ZodSafeParseResult<T>): ParsedValue<T> {
  return result.success ? { ok: true, value: result.data } : { ok: false, issues: describeIssues(result.error) }
}

function orUndecided<Result>(parse: () => Result): Result | Extract<ParsedValue<never>, { readonly ok: false }> {
  try {
    return parse()
  } catch (thrown) {
    if (!(thrown instanceof TimeLimitError)) throw thrown
    return { ok: false, issues: `- ${thrown.message}`, isUndecided: true }
  }
}

/**
 * Checks that take no limit: each may make an issue, which takes ten microseconds. The limit costs a tenth of a
 * millisecond.
 */
const maxQuickChecks = 1_000

/**
 * True for a value that a schema without unions, patterns, recursion and functions checks at once, also when nothing in
 * it fits. Most calls are such. An object costs a check for each declared property, also for those that it lacks.
 */
function isQuick(schema: z.core.$ZodType, value: unknown): boolean {
  const parts = plainPartsOf(schema)
  return parts * countValues(value, maxQuickChecks / parts) <= maxQuickChecks
}

/** How many values there are, the root included; more than `max` when there are more. */
function countValues(value: unknown, max: number): number {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return 1
  let count = 1
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && count <= max; index++) count += countValues(value[index], max - count)
    return count
  }
  for (const key in value) {
    if (count > max) break
    count += countValues((value as Readonly<Record<string, unknown>>)[key], max - count)
  }
  return count
}

const plainParts = new WeakMap<z.core.$ZodType, number>()

/** How many schemas a schema consists of; Infinity for one that is not plain. */
function plainPartsOf(schema: z.core.$ZodType): number {
  const known = plainParts.get(schema)
  if (known !== undefined) return known
  plainParts.set(schema, Infinity) // while it is decided: a schema that contains itself is not plain
  const parts = plainPartsOfDefinition(definitionOf(schema) as AnyDefinition)
  plainParts.set(schema, parts)
  return parts
}

type AnyDefinition = z.core.$ZodTypes['_zod']['def']

function plainPartsOfDefinition(def: AnyDefinition): number {
  if (!(def.checks ?? []).every((check) => plainChecks.has(definitionOf(check).check))) return Infinity
  switch (def.type) {
    case 'any':
    case 'boolean':
    case 'null':
    case 'unknown':
      return 1
    case 'number':
    case 'string':
      return !('check' in def) || plainChecks.has(String(def.check)) ? 1 : Infinity
    case 'array':
      return 1 + plainPartsOf(def.element)
    case 'object': {
      const { catchall } = def
      const isClosed = catchall === undefined || definitionOf(catchall).type === 'never'
      const others = isClosed ? 0 : plainPartsOf(catchall)
      return Object.values(def.shape).reduce((sum, part) => sum + plainPartsOf(part), 1 + others)
    }
    case 'nullable':
    case 'optional':
      return plainPartsOf(def.innerType)
    default:
      return Infinity
  }
}

function definitionOf<Definition>({ ['_zod']: { def } }: { readonly _zod: { readonly def: Definition } }): Definition {
  return def
}

const plainChecks: ReadonlySet<string> = new Set([
  'greater_than',
  'less_than',
  'max_length',
  'min_length',
  'multiple_of',
  'number_format',
])
