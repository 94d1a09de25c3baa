/**
 * Owns: the behaviour that every backend must have, as cases for any test runner.
 *
 * Boundary: uses the backend contract and `SessionHost` only, and no test runner.
 *
 * Invariants: 1. The cases share a sandbox and run in order. 2. After a failed case the next one gets a new sandbox.
 */
import { asyncioCases } from './cases/asyncio-cases.js'
import { callCases } from './cases/call-cases.js'
import { cellCases } from './cases/cell-cases.js'
import { restrictedCellCases } from './cases/restricted-cell-cases.js'
import { lifecycleCases } from './cases/lifecycle-cases.js'
import { limitCases } from './cases/limit-cases.js'
import { pythonCases } from './cases/python-cases.js'
import { rebuildCases } from './cases/rebuild-cases.js'
import { type CaseDefinition, type BackendCapabilities, ConformanceContext } from './conformance-context.js'
import { stepCases } from './cases/step-cases.js'
import { streamCases } from './cases/stream-cases.js'
import { threadCases } from './cases/thread-cases.js'
import { timeCases } from './cases/time-cases.js'
import { valueCases } from './cases/value-cases.js'
import { plantedSecret, isolationCases } from './cases/isolation-cases.js'
import type { SandboxBackend } from '../backend.js'

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

const groups: readonly (readonly [name: string, cases: readonly CaseDefinition[]])[] = [
  ['calls', callCases],
  ['time', timeCases],
  ['asyncio', asyncioCases],
  ['event loop', threadCases],
  ['cells', cellCases],
  ['restricted cells', restrictedCellCases],
  ['Python', pythonCases],
  ['Python', streamCases],
  ['Python', valueCases],
  ['cells over a limit', limitCases],
  ['steps', stepCases],
  ['rebuilt program', rebuildCases],
  ['backend', lifecycleCases],
  ['sandbox', isolationCases],
]

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
  const isApplicable = ({ requires }: CaseDefinition): boolean => requires === undefined || options[requires] === true
  return {
    cases: groups.flatMap(([group, cases]) => cases.filter(isApplicable).map((definition) => bind(group, definition))),
    async close() {
      delete process.env[plantedSecret.name]
      await context?.close()
    },
  }
}
