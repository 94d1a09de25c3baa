import { afterAll, beforeAll, describe, it } from 'vitest'
import type { SandboxBackend } from '../../../src/sandbox/backend.js'
import { sandboxConformance } from '../../../src/sandbox/conformance/index.js'
import type { ConformanceOptions } from '../../../src/sandbox/conformance/suite.js'

import { describeValueTransfer } from './describe-value-transfer.js'

/** Runs the published conformance suite as Vitest tests. */
export function describeConformance(options: ConformanceOptions): void {
  const suite = sandboxConformance(options)
  afterAll(() => suite.close(), 180_000)
  for (const { name, timeoutMs, run } of suite.cases) it(name, { timeout: timeoutMs }, run)

  let backend: SandboxBackend
  describe('external values', () => {
    beforeAll(() => {
      backend = options.makeBackend()
    })
    describeValueTransfer(() => backend)
    afterAll(() => backend?.close())
  })
}
