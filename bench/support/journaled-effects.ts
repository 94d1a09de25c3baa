import type { ResultRow } from './measure.js'

/** 50 local calls, alternately `idempotent` and `once`. Prints how many of each have an unknown outcome. */
export const journaledCalls = `
unknown = [0, 0]
for n in range(50):
    try:
        await (mark, mark_once)[n % 2](name=str(n))
    except ToolOutcomeUnknown:
        unknown[n % 2] += 1
print(*unknown)`

/** Counts the effects of {@link journaledCalls}, in all worker processes. */
export class JournaledEffects {
  readonly #keys = new Map<string, Set<string>>()
  #doubled = 0
  #unknownIdempotent = 0
  #unknownOnce = 0

  /** @param path request of a tool: `mark` or `mark_once`, the name of the effect, its idempotency key, and the process */
  record(path: string): void {
    const [tool, name = '', key = ''] = path.split('/')
    if (tool !== 'mark' && tool !== 'mark_once') return
    const keys = this.#keys.get(name) ?? new Set()
    // An `idempotent` effect is doubled when its key changes, and a `once` effect when it is requested again.
    if (tool === 'mark_once' ? keys.size > 0 : keys.size > 0 && !keys.has(key)) this.#doubled += 1
    this.#keys.set(name, keys.add(key))
  }

  /** @param output of a program that has ended */
  endProgram(output: string): void {
    const [idempotent = Number.NaN, once = Number.NaN] = output.trim().split(' ').map(Number)
    this.#unknownIdempotent += idempotent
    this.#unknownOnce += once
    this.#keys.clear()
  }

  /** A `once` call that was in progress has an unknown outcome, so at most one for each kill. */
  rows(kills: number): ResultRow[] {
    const row = (what: string, count: number, target: number): ResultRow => ({
      name: `50 journaled calls, ${kills} kills: ${what}`,
      unit: 'calls',
      samples: [count],
      target,
    })
    return [
      row('doubled effects', this.#doubled, 0),
      row('`idempotent` of unknown outcome', this.#unknownIdempotent, 0),
      row('`once` of unknown outcome', this.#unknownOnce, kills),
    ]
  }
}
