import assert from 'node:assert/strict'
import { defined } from '../../../common/defined.js'
import type { Limits } from '../../../common/run/limits.js'
import type { JsonValue } from '../../../common/json/json.js'
import type { CaseDefinition, ConformanceContext } from '../conformance-context.js'
import { expectError, expectResult } from '../expectations.js'
import type { SessionHarness } from '../session-harness.js'

/** What sandboxes do in every language: what is expected of cells, whose code each language has in its column. */
export interface Behavior extends Pick<CaseDefinition, 'requires'> {
  readonly check: (context: ConformanceContext, cells: readonly string[]) => Promise<void>
}

/** Behaviors by their names. A name says what is expected. */
export type Behaviors = Readonly<Record<string, Behavior>>

/** The cells of a behavior in one language, or what the language does instead. One text is one cell. */
export type Code = string | readonly string[] | Difference | CodeWithRequirement

/** A language behaves differently. */
export interface Difference {
  /** What happens instead, as a sentence for people who choose a language. */
  readonly difference: string
  /** Shows it. Undefined: there is nothing to run. */
  readonly check?: Behavior['check']
}

/** The language needs more of the sandbox than the behavior does. */
interface CodeWithRequirement extends Required<Pick<CaseDefinition, 'requires'>> {
  readonly cells: string | readonly string[]
}

/** The code of each of these behaviors in one language. */
export type CodeOf<Rows extends Behaviors> = Readonly<Record<keyof Rows, Code>>

/** Where the cells run. */
interface Place extends Pick<CaseDefinition, 'requires'> {
  /** Limits of a sandbox of its own. */
  readonly limits?: Partial<Limits>
  /** The behavior has a sandbox of its own. Default: the shared one, unless there are limits. */
  readonly isFresh?: true
}

/** A behavior that is checked in one session. */
export function inSession(
  check: (harness: SessionHarness, cells: readonly string[]) => Promise<void>,
  { limits, isFresh, requires }: Place = {},
): Behavior {
  return {
    ...defined({ requires }),
    check: async (context, cells) =>
      check(await (isFresh || limits ? context.newHarness(limits) : context.harness()), cells),
  }
}

/** The cells complete, and print this text together. */
export function prints(expected: string | RegExp, place?: Place): Behavior {
  return inSession(async (harness, cells) => {
    let printed = ''
    for (const cell of cells) {
      const { output, finalResult } = await harness.runCell(cell)
      expectResult(finalResult, 'completed')
      printed += output
    }
    if (typeof expected === 'string') assert.equal(printed, expected)
    else assert.match(printed, expected)
  }, place)
}

/** The cells complete, and each of their lines is one of these values as JSON. */
export function printsJson(expected: readonly JsonValue[], place?: Place): Behavior {
  return inSession(async (harness, cells) => {
    const values: unknown[] = []
    for (const cell of cells) {
      const { output, finalResult } = await harness.runCell(cell)
      expectResult(finalResult, 'completed')
      values.push(...readLines(output))
    }
    assert.deepEqual(values, expected)
  }, place)
}

/** Each cell fails with this error, and makes no call. */
export function fails(error: string | RegExp, place?: Place): Behavior {
  return inSession(async (harness, cells) => {
    for (const cell of cells) {
      const { finalResult, calls } = await harness.runCell(cell)
      expectError(finalResult, error)
      assert.deepEqual(calls, [])
    }
  }, place)
}

/** The values of lines of JSON. */
export function readLines(output: string): unknown[] {
  return output
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as unknown)
}

/** The language does something else, as these cells show by what they print. */
export function differs(
  difference: string,
  cells?: string | readonly string[],
  expected?: string | RegExp,
): Difference {
  if (cells === undefined || expected === undefined) return { difference }
  const { check } = prints(expected, { isFresh: true })
  return { difference, check: (context) => check(context, [cells].flat()) }
}
