import { z } from 'zod'
import { didYouMean } from '../common/text/unknown-keys.js'

/** Describes the problems of a value for people: a line for each problem, with a similar key for each unknown one. */
export function describeProblems({ issues }: z.ZodError, schema: z.ZodType): string {
  const described = issues.map((issue) => {
    if (issue.code !== 'unrecognized_keys') return issue
    const known = keysOf(issue.path.reduce<unknown>(valueSchema, schema))
    const hints = issue.keys.map((key) => didYouMean(key, known))
    return { ...issue, message: `${issue.message}${[...new Set(hints)].join('')}` }
  })
  return z.prettifyError({ issues: described })
}

/** The schema of a value in an object, a list or a record; undefined when the schema does not tell. */
function valueSchema(schema: unknown, key: PropertyKey): unknown {
  const inner = unwrap(schema)
  if (inner instanceof z.ZodObject) return (inner.shape as Readonly<Record<PropertyKey, unknown>>)[key]
  if (inner instanceof z.ZodArray) return inner.element
  return inner instanceof z.ZodRecord ? inner.valueType : undefined
}

function keysOf(schema: unknown): readonly string[] {
  const inner = unwrap(schema)
  if (inner instanceof z.ZodUnion) return inner.options.flatMap(keysOf)
  return inner instanceof z.ZodObject ? Object.keys(inner.shape) : []
}

function unwrap(schema: unknown): unknown {
  if (schema instanceof z.ZodPipe) return unwrap(schema.in)
  const isWrapper = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault
  return isWrapper ? unwrap(schema.unwrap()) : schema
}
