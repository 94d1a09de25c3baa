/**
 * Owns: the behaviour that every backend must have, as cases for any test runner.
 *
 * Boundary: uses the backend contract and `SessionHost` only, and no test runner.
 *
 * Invariants: 1. The cases share a sandbox and run in order. 2. After a failed case the next one gets a new sandbox.
 */
import {
  type CaseDefinition,
  type BackendCapabilities,
  ConformanceContext,
  plantedSecret,
} from './conformance-context.js'
import type { SandboxBackend } from '../backend.js'
import { pythonCases } from './python/index.js'

export interface ConformanceOptions extends BackendCapabilities {
  /** Creates a backend. It is called several times, like by several workers of one host. */
  readonly makeBackend: () => SandboxBackend
}

/** One test, for any test runner. */
interface ConformanceCase {
  readonly name: string
  /** Time limit of the case, also on a slow machine. */
  readonly timeoutMs: number
  /** Rejects with an AssertionError of node:assert when the backend fails the case. */
  readonly run: () => Promise<void>
}

export interface ConformanceSuite {
  readonly cases: readonly ConformanceCase[]
  /** Removes every sandbox and closes the backend; call it after the last case. Idempotent. */
  close(): Promise<void>
}

const timeoutMs = 180_000

/** Returns the cases for a backend. They share a sandbox: run them one after the other. */
export function sandboxConformance(options: ConformanceOptions): ConformanceSuite {
  const { makeBackend, supportsInterrupt } = options
  let context: ConformanceContext | undefined
  const getContext = (): ConformanceContext => {
    process.env[plantedSecret.name] = plantedSecret.value
    return (context ??= new ConformanceContext(makeBackend, supportsInterrupt))
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
  const isApplicable = ({ requires = [] }: CaseDefinition): boolean =>
    [requires].flat().every((capability) => options[capability] === true)
  return {
    cases: pythonCases.flatMap(([group, cases]) =>
      cases.filter(isApplicable).map((definition) => bind(group, definition)),
    ),
    async close() {
      delete process.env[plantedSecret.name]
      await context?.close()
    },
  }
}
