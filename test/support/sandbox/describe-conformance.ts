import { afterAll, beforeAll, describe, it } from 'vitest'
import type { SandboxBackend } from '../../../src/sandbox/backend.js'
import { sandboxConformance } from '../../../src/sandbox/conformance/index.js'
import type { ConformanceOptions } from '../../../src/sandbox/conformance/suite.js'

import { describeValueTransfer } from './describe-value-transfer.js'

/**
 * Runs the published conformance suite as Vitest tests.
 *
 * @param groups default: all
 */
export function describeConformance(options: ConformanceOptions, groups?: readonly string[]): void {
  const suite = sandboxConformance(options)
  afterAll(() => suite.close(), 180_000)
  for (const { name, timeoutMs, run } of suite.cases)
    if (groups?.some((group) => name.startsWith(`${group}: `)) ?? true) it(name, { timeout: timeoutMs }, run)

  // The transfer of values is the same for all languages.
  if (options.language !== 'python') return
  let backend: SandboxBackend
  describe('external values', () => {
    beforeAll(() => {
      backend = options.makeBackend()
    })
    describeValueTransfer(() => backend)
    afterAll(() => backend?.close())
  })
}
