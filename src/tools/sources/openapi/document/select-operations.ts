import { PtcError } from '../../../../common/errors.js'
import { didYouMean } from '../../../../common/text/unknown-keys.js'
import { matchesAny, unmatchedPattern } from '../../../../common/text/name-patterns.js'
import type { ParsedOpenApiSource } from '../options.js'
import type { ListedOperation } from './read-operations.js'

/** Operations of one API. More would not fit into the record of a run. */
export const maxOperations = 2_000

/**
 * The operations that runs may have.
 *
 * @throws PtcError CONFIG_INVALID for a selection that matches nothing, options of an operation that is missing, and too
 *   many operations
 */
export function selectOperations(
  name: string,
  listed: readonly ListedOperation[],
  { allow, tags, paths, operations }: ParsedOpenApiSource,
): readonly ListedOperation[] {
  const names = listed.flatMap(({ id, key }) => [id, key])
  const known = {
    operation: { patterns: allow ?? [], names },
    tag: { patterns: tags ?? [], names: [...new Set(listed.flatMap((each) => each.tags))] },
    path: { patterns: paths ?? [], names: [...new Set(listed.map(({ path }) => path))] },
  }
  for (const [kind, each] of Object.entries(known)) checkKnown(name, kind, each.patterns, each.names)
  const missing = Object.keys(operations).find((each) => !names.includes(each))
  if (missing !== undefined) throw unknown(name, 'operation', missing, names)
  const isWhole = allow === undefined && tags === undefined && paths === undefined
  const selected = isWhole
    ? listed
    : listed.filter(
        (each) =>
          matchesAny(each.id, allow ?? []) ||
          matchesAny(each.key, allow ?? []) ||
          each.tags.some((tag) => matchesAny(tag, tags ?? [])) ||
          matchesAny(each.path, paths ?? []),
      )
  if (selected.length <= maxOperations) return selected
  throw new PtcError(
    'CONFIG_INVALID',
    `OpenAPI ${name} has ${selected.length} operations; at most ${maxOperations} can be tools`,
    { hint: `Select some with allow, tags or paths. ${describeTags(listed)}` },
  )
}

function checkKnown(name: string, kind: string, patterns: readonly string[], names: readonly string[]): void {
  const missing = unmatchedPattern(patterns, names)
  if (missing !== undefined) throw unknown(name, kind, missing, names)
}

function unknown(name: string, kind: string, missing: string, names: readonly string[]): PtcError {
  const shown = names.slice(0, 20).join(', ')
  return new PtcError(
    'CONFIG_INVALID',
    `OpenAPI ${name} has no ${kind} ${JSON.stringify(missing)}${didYouMean(missing, [...names])}`,
    { hint: names.length === 0 ? `It has no ${kind}.` : `It has: ${shown}${names.length > 20 ? ', …' : ''}.` },
  )
}

function describeTags(listed: readonly ListedOperation[]): string {
  const count = new Map<string, number>()
  for (const tag of listed.flatMap(({ tags }) => tags)) count.set(tag, (count.get(tag) ?? 0) + 1)
  const shown = [...count].slice(0, 50).map(([tag, operations]) => `${tag} (${operations})`)
  return shown.length === 0 ? 'The document has no tags.' : `Tags: ${shown.join(', ')}.`
}
