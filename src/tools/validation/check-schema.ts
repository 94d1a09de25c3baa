import type { z } from 'zod'
import type { PtcError } from '../../common/errors.js'

type InvalidError = (message: string, hint?: string) => PtcError

/** @throws the error that `invalid` makes, for a value that is not a schema of zod 4 */
export function checkSchema(field: string, schema: unknown, invalid: InvalidError): void {
  if (isZodSchema(schema)) return
  refuseZod3(field, schema, invalid)
  throw invalid(`${field} must be a zod schema`)
}

export function isZodSchema(schema: unknown): schema is z.ZodType {
  return typeof schema === 'object' && schema !== null && '_zod' in schema
}

/** @throws the error that `invalid` makes, for a schema of zod 3 */
export function refuseZod3(field: string, schema: unknown, invalid: InvalidError): void {
  if (typeof schema !== 'object' || schema === null || !('_def' in schema)) return
  throw invalid(
    `${field} is a zod 3 schema`,
    "durable-ptc needs zod 4: npm install zod@4, and import { z } from 'zod'.",
  )
}
