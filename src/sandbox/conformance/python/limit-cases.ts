import assert from 'node:assert/strict'
import { expectError, expectResult } from '../expectations.js'
import type { CaseDefinition } from '../conformance-context.js'

/** Cells that exceed a limit. */
export const limitCases: readonly CaseDefinition[] = [
  {
    name: 'get a hint when they poll the clock until the time limit',
    requires: 'supportsInterrupt',
    async run(context) {
      const harness = await context.newHarness({ cellSeconds: 2 })
      const source = 'import time\nbegun = time.time()\nwhile time.time() - begun < 3600: sum(range(1000))'
      expectError(
        (await harness.runCell(source)).finalResult,
        /\n\[hint\] time\.time\(\) stands still while code computes/,
      )
      const { finalResult } = await harness.runCell('begun = time.time()\nwhile True: pass')
      assert.doesNotMatch(expectError(finalResult, 'it may run 2 seconds'), /hint/)
    },
  },
  {
    name: 'are killed when they ignore the stop',
    requires: 'supportsInterrupt',
    async run(context) {
      const harness = await context.newHarness({ cellSeconds: 2 })
      const ignore = 'import signal\nfor s in (14, signal.SIGINT): signal.signal(s, signal.SIG_IGN)\n'
      const { finalResult } = await harness.runCell(`${ignore}while True: pass`)
      assert.equal(expectResult(finalResult, 'lost').cause, 'killed_at_limit')
    },
  },
]
