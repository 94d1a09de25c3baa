import assert from 'node:assert/strict'
import type { CaseDefinition } from '../conformance-context.js'

/** Steps of workers that died, or that were assumed dead. */
export const stepCases: readonly CaseDefinition[] = [
  {
    name: 'a repeated step returns the same result without running twice',
    async run(context) {
      const harness = await context.harness()
      const source = 'count = globals().get("count", 0) + 1\nprint(count)'
      const first = await harness.startCell(source)
      const again = await harness.sendStep(harness.step, { type: 'cell', cell: harness.cell, source }, 2)
      assert.deepEqual(again, first)
      assert.equal((await harness.runCell('print(count)')).output, '1\n')
    },
  },
  {
    name: 'the steps of a stale worker are rejected',
    async run(context) {
      const harness = await context.harness()
      harness.cell += 1
      harness.step += 1
      const cell = { type: 'cell' as const, cell: harness.cell, source: 'print("mine")' }
      await harness.sendStep(harness.step, cell, 3)
      await assert.rejects(harness.sendStep(harness.step, cell, 2), { code: 'SANDBOX_FENCED' })
    },
  },
]
