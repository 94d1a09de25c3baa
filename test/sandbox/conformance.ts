import { afterAll, it } from 'vitest'
import { type ConformanceOptions, sandboxConformance } from '../../src/sandbox/conformance/index.js'

/** The published suite, as tests of vitest. */
export function conformance(options: ConformanceOptions): void {
  const suite = sandboxConformance(options)
  afterAll(() => suite.close(), 180_000)
  for (const { name, timeoutMs, run } of suite.cases) it(name, { timeout: timeoutMs }, run)
}
