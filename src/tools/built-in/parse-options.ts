import type { z } from 'zod'
import { PtcError } from '../../common/errors.js'
import { describeIssues } from '../validation/describe-issues.js'

/** @throws PtcError CONFIG_INVALID, with the name of the function that got the options */
export function parseOptions<Schema extends z.ZodType>(
  name: string,
  schema: Schema,
  options: unknown,
): z.output<Schema> {
  const parsed = schema.safeParse(options)
  if (parsed.success) return parsed.data
  throw new PtcError('CONFIG_INVALID', `the options of ${name} are wrong:\n${describeIssues(parsed.error)}`)
}
