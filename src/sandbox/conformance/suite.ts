import { asyncioCases } from './asyncio-cases.js'
import { callCases } from './call-cases.js'
import { cellCases } from './cell-cases.js'
import { lifeCases } from './life-cases.js'
import { limitCases } from './limit-cases.js'
import { pythonCases } from './python-cases.js'
import { repeatCases } from './repeat-cases.js'
import { type CaseDefinition, type Claims, Scene } from './scene.js'
import { stepCases } from './step-cases.js'
import { streamCases } from './stream-cases.js'
import { threadCases } from './thread-cases.js'
import { timeCases } from './time-cases.js'
import { valueCases } from './value-cases.js'
import { plantedSecret, wallCases } from './wall-cases.js'
import type { SandboxBackend } from '../backend.js'

export interface ConformanceOptions extends Claims {
  /** Makes the backend; several times, as several workers of one host would. */
  readonly makeBackend: () => SandboxBackend
}

/** One test, for any test runner. */
export interface ConformanceCase {
  readonly name: string
  /** Milliseconds it may take, on a slow machine too. */
  readonly timeoutMs: number
  /** Rejects with an AssertionError of node:assert when the backend does not do what it must. */
  readonly run: () => Promise<void>
}

export interface ConformanceSuite {
  readonly cases: readonly ConformanceCase[]
  /** After the last case: removes every sandbox and closes the backend. Idempotent. */
  close(): Promise<void>
}

const timeoutMs = 180_000

const groups: readonly (readonly [name: string, cases: readonly CaseDefinition[]])[] = [
  ['calls', callCases],
  ['time', timeCases],
  ['asyncio', asyncioCases],
  ['an event loop', threadCases],
  ['cells', cellCases],
  ['ordinary Python', pythonCases],
  ['ordinary Python', streamCases],
  ['ordinary Python', valueCases],
  ['cells over a limit', limitCases],
  ['steps', stepCases],
  ['a program that is run again', repeatCases],
  ['a backend', lifeCases],
  ['a sandbox', wallCases],
]

/**
 * What every backend must do, written against the interface alone, so that anybody's backend can be held to it. The
 * cases share a sandbox: run them one after the other.
 */
export function sandboxConformance(options: ConformanceOptions): ConformanceSuite {
  const { makeBackend, stopsCode } = options
  let scene: Scene | undefined
  const begin = (): Scene => {
    process.env[plantedSecret.name] = plantedSecret.value
    return (scene ??= new Scene(makeBackend, stopsCode))
  }
  const bind = (group: string, { name, run }: CaseDefinition): ConformanceCase => ({
    name: `${group} ${name}`,
    timeoutMs,
    run: async () => {
      const current = begin()
      let failed = true
      try {
        await run(current)
        failed = false
      } finally {
        await current.tidy(failed)
      }
    },
  })
  const isClaimed = ({ needs }: CaseDefinition): boolean => needs === undefined || options[needs] === true
  return {
    cases: groups.flatMap(([group, cases]) => cases.filter(isClaimed).map((each) => bind(group, each))),
    async close() {
      delete process.env[plantedSecret.name]
      await scene?.close()
    },
  }
}
