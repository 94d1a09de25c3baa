import { afterAll, beforeAll, describe, it } from 'vitest'
import type { SandboxBackend } from '../../src/sandbox/backend.js'
import { type ConformanceOptions, sandboxConformance } from '../../src/sandbox/conformance/index.js'

import { valuesConformance } from './conformance-values.js'

/** The published suite, as tests of vitest. */
export function conformance(options: ConformanceOptions): void {
  const suite = sandboxConformance(options)
  afterAll(() => suite.close(), 180_000)
  for (const { name, timeoutMs, run } of suite.cases) it(name, { timeout: timeoutMs }, run)

  let backend: SandboxBackend
  describe('values kept elsewhere', () => {
    beforeAll(() => {
      backend = options.makeBackend()
    })
    valuesConformance(() => backend)
    afterAll(() => backend?.close())
  })
}
