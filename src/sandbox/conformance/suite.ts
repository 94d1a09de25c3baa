/**
 * Owns: the behaviour that every backend must have, as cases for any test runner.
 *
 * Boundary: uses the backend contract and `SessionHost` only, and no test runner.
 *
 * Invariants: 1. The cases share a sandbox and run in order. 2. After a failed case the next one gets a new sandbox.
 * 3. A row of the table (`behaviors/`) has one expectation; each language has its code for it, or says what differs.
 */
import {
  type CaseDefinition,
  type BackendCapabilities,
  ConformanceContext,
  plantedSecret,
} from './conformance-context.js'
import type { SandboxBackend } from '../backend.js'
import { defaultLanguageName } from '../../common/names.js'
import { languageNamesOf } from '../../common/run/language-names.js'
import { backendCases } from './backend-cases.js'
import { bashSuite } from './bash/index.js'
import { javascriptSuite, typescriptSuite } from './javascript/index.js'
import { caseOf, type LanguageSuite, rowsOf } from './language-suite.js'
import { pythonSuite } from './python/index.js'

/** The columns of the table. */
export const languageSuites: readonly LanguageSuite[] = [pythonSuite, javascriptSuite, typescriptSuite, bashSuite]

export interface ConformanceOptions extends BackendCapabilities {
  /** Creates a backend. It is called several times, like by several workers of one host. */
  readonly makeBackend: () => SandboxBackend
  /** The language whose cases run: `python` or `javascript`. Default: `python`. */
  readonly language?: string
}

/** One test, for any test runner. */
interface ConformanceCase {
  readonly name: string
  /** Time limit of the case, also on a slow machine. */
  readonly timeoutMs: number
  /** Rejects with an AssertionError of node:assert when the backend fails the case. */
  readonly run: () => Promise<void>
}

/** A case that needs a capability which the options do not claim. */
interface SkippedCase {
  readonly name: string
  /** The capabilities that are missing. */
  readonly missing: readonly (keyof BackendCapabilities)[]
}

export interface ConformanceSuite {
  readonly cases: readonly ConformanceCase[]
  /** What the suite does not test. */
  readonly skipped: readonly SkippedCase[]
  /** Removes every sandbox and closes the backend; call it after the last case. Idempotent. */
  close(): Promise<void>
}

const timeoutMs = 180_000

/** Returns the cases for a backend. They share a sandbox: run them one after the other. */
export function sandboxConformance(options: ConformanceOptions): ConformanceSuite {
  const { makeBackend, language = defaultLanguageName } = options
  const suite = languageSuites.find((each) => each.language === languageNamesOf(language)[0])
  if (!suite) throw new Error(`there are no cases of the language ${language}`)
  let context: ConformanceContext | undefined
  const getContext = (): ConformanceContext => {
    process.env[plantedSecret.name] = plantedSecret.value
    return (context ??= new ConformanceContext(makeBackend, language, options))
  }
  const bind = (group: string, { name, run }: CaseDefinition): ConformanceCase => ({
    name: `${group}: ${name}`,
    timeoutMs,
    run: async () => {
      const current = getContext()
      let failed = true
      try {
        await run(current)
        failed = false
      } finally {
        await current.cleanUp(failed)
      }
    },
  })
  const missingFor = ({ requires = [] }: CaseDefinition) =>
    [requires].flat().filter((capability) => options[capability] !== true)
  const rows = rowsOf(suite).flatMap((row) => {
    const definition = caseOf(row)
    return definition === undefined ? [] : [[row.group, definition] as const]
  })
  const own = [...suite.ownCases, ['backend', backendCases] as const].flatMap(([group, cases]) =>
    cases.map((definition) => [group, definition] as const),
  )
  const all = [...rows, ...own].map(([group, definition]) => ({
    ...bind(group, definition),
    missing: missingFor(definition),
  }))
  return {
    cases: all.filter(({ missing }) => missing.length === 0),
    skipped: all.filter(({ missing }) => missing.length > 0),
    async close() {
      delete process.env[plantedSecret.name]
      await context?.close()
    },
  }
}
