import { z } from 'zod'
import { PtcError } from '../../common/errors.js'
import { describeIssues } from '../validation/describe-issues.js'

/** Makes the error of a wrong definition. */
export type InvalidError = (message: string, hint?: string) => PtcError

/** @returns a function that makes errors with the name of the tool */
export function invalidTool(name: string): InvalidError {
  return (message, hint) =>
    new PtcError('CONFIG_INVALID', `tool ${name}: ${message}`, hint === undefined ? {} : { hint })
}

/** @throws PtcError CONFIG_INVALID */
export function parseOption<Option>(
  key: string,
  schema: z.ZodType<Option>,
  given: unknown,
  invalid: InvalidError,
): Option {
  if (typeof given !== 'object' && schema instanceof z.ZodObject) throw invalid(`${key} must be an object`)
  const { success, data, error } = schema.safeParse(given)
  if (!success) throw invalid(`${key} is invalid:\n${describeIssues(error)}`)
  return data
}

/** @throws PtcError CONFIG_INVALID when no value is given, or one is not among the choices */
export function checkChoice(
  field: string,
  given: readonly unknown[],
  choices: readonly string[],
  invalid: InvalidError,
): void {
  const known = Array.isArray(given) && given.length > 0 && given.every((one) => choices.includes(one as string))
  if (!known) throw invalid(`${field} must be ${choices.map((choice) => `'${choice}'`).join(' or ')}`, hints[field])
}

const hints: Readonly<Record<string, string>> = {
  effect:
    "'read' changes nothing; 'idempotent' may be repeated with the same idempotency key; 'once' must not happen twice and is never retried.",
}
