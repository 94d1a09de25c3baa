import type { PtcError } from '../../common/errors.js'

/** @throws the error that `invalid` makes, for anything but a schema of zod 4 */
export function checkSchema(
  field: string,
  schema: unknown,
  invalid: (message: string, hint?: string) => PtcError,
): void {
  if (typeof schema === 'object' && schema !== null && '_zod' in schema) return
  if (typeof schema === 'object' && schema !== null && '_def' in schema) {
    throw invalid(
      `${field} is a zod 3 schema`,
      "durable-ptc needs zod 4: npm install zod@4, and import { z } from 'zod'.",
    )
  }
  throw invalid(`${field} must be a zod schema`)
}
