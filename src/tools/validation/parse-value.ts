import { z } from 'zod'
import { describeIssues } from './describe-issues.js'
import { TimeLimitError, withTimeLimit } from './time-limit.js'

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
export function parseValueNow<T>(schema: z.ZodType<T>, value: unknown, limitMs?: number): ParsedValue<T> {
  if (isPlain(schema)) return toParsed(z.safeParse(schema, value))
  return orUndecided(() => withTimeLimit(() => toParsed(z.safeParse(schema, value)), limitMs))
}

/**
 * Parses a value within a time limit. The limit does not cover the time after an asynchronous check.
 *
 * @throws what a check throws
 */
export async function parseValue<T>(schema: z.ZodType<T>, value: unknown, limitMs?: number): Promise<ParsedValue<T>> {
  if (isPlain(schema)) return toParsed(z.safeParse(schema, value))
  const parsing = orUndecided(() => withTimeLimit(() => z.safeParseAsync(schema, value), limitMs))
  const result = await parsing
  if ('ok' in result) return result
  return orUndecided(() => withTimeLimit(() => toParsed(result), limitMs))
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

const plainSchemas = new WeakMap<z.core.$ZodType, boolean>()

/**
 * Whether the check of a schema takes time in proportion to the value: without unions, patterns, recursion and
 * functions. Most tools have such a schema. The limit costs a tenth of a millisecond for each call.
 */
function isPlain(schema: z.core.$ZodType): boolean {
  const known = plainSchemas.get(schema)
  if (known !== undefined) return known
  plainSchemas.set(schema, false) // while it is being decided: a schema that contains itself is not plain
  const plain = isPlainDefinition(definitionOf(schema) as AnyDefinition)
  plainSchemas.set(schema, plain)
  return plain
}

type AnyDefinition = z.core.$ZodTypes['_zod']['def']

function isPlainDefinition(def: AnyDefinition): boolean {
  if (!(def.checks ?? []).every((check) => plainChecks.has(definitionOf(check).check))) return false
  switch (def.type) {
    case 'any':
    case 'boolean':
    case 'null':
    case 'unknown':
      return true
    case 'number':
    case 'string':
      return !('check' in def) || plainChecks.has(String(def.check))
    case 'array':
      return isPlain(def.element)
    case 'object':
      return (
        Object.values(def.shape).every(isPlain) &&
        (def.catchall === undefined || definitionOf(def.catchall).type === 'never' || isPlain(def.catchall))
      )
    case 'nullable':
    case 'optional':
      return isPlain(def.innerType)
    default:
      return false
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
