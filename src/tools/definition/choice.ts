import type { InvalidError } from './invalid-tool.js'

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
