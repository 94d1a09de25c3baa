import type { Ledger } from '../../../support/ledger.js'
import { checkEffects } from '../oracle.js'
import type { SoakRun } from './workload.js'

export interface CheckedEffects {
  /** Number of applied effects. */
  readonly effects: number
  readonly lost: readonly string[]
  readonly doubled: readonly string[]
}

/**
 * Compares the effects in the ledger with those of the runs: each once and with one key, and no request for a `once`
 * effect is repeated.
 *
 * @param unknown `once` effects whose outcome their runs do not know
 */
export function checkAllEffects(
  { applied, requests }: Pick<Ledger, 'applied' | 'requests'>,
  runs: readonly SoakRun[],
  unknown: readonly string[],
): CheckedEffects {
  const expected = effectsOf(runs, unknown, new Set(applied.map(({ name }) => name)))
  const { effects, lost, duplicates } = checkEffects(applied, expected)
  const repeated = repeatedRequests(requests, new Set(runs.flatMap(({ onceEffects }) => onceEffects)))
  return { effects, lost: lost.map(shortened), doubled: [...duplicates, ...repeated].map(shortened) }
}

/** The effects that must have happened: those of unknown outcome only if they have. */
function effectsOf(
  runs: readonly SoakRun[],
  unknown: readonly string[],
  applied: ReadonlySet<string>,
): readonly string[] {
  const isUnknown = new Set(unknown)
  return runs.flatMap(({ effects, onceEffects }) => [
    ...effects,
    ...onceEffects.filter((name) => !isUnknown.has(name) || applied.has(name)),
  ])
}

/** Names of `once` effects that were requested more than once. */
function repeatedRequests(requests: readonly { readonly name: string }[], once: ReadonlySet<string>): string[] {
  const seen = new Set<string>()
  return requests.flatMap(({ name }) => {
    if (!once.has(name)) return []
    if (seen.has(name)) return [`${name} was requested again`]
    seen.add(name)
    return []
  })
}

function shortened(name: string): string {
  return name.slice(0, 100)
}
