import assert from 'node:assert/strict'
import type { StepInput } from '../../../common/session/steps.js'
import { expectResult } from '../expectations.js'
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
    name: 'a step that is repeated at a later time returns the first result, and the time of its execution',
    async run(context) {
      const harness = await context.newHarness()
      const source = 'import time\nprint(time.time())'
      harness.now = 1_000
      const first = await harness.startCell(source)
      harness.now = 61_000
      const again = await harness.sendStep(harness.step, { type: 'cell', cell: harness.cell, source }, 2)
      assert.deepEqual(again, { ...first, executedAt: { now: 1_000, waited: 1_000 } })
    },
  },
  {
    name: 'steps whose results are not recorded are answered again, in order, and the program continues',
    async run(context) {
      const harness = await context.newHarness()
      harness.recorded = 0
      const source = 'for n in range(3):\n    print(await get(n))'
      const inputs: StepInput[] = [{ type: 'cell', cell: 1, source }]
      const first = [await harness.executeStep(inputs[0] as StepInput)]
      for (const index of [1, 2]) {
        const input: StepInput = { type: 'results', results: [{ index, outcome: { status: 'ok', value: index } }] }
        inputs.push(input)
        first.push(await harness.executeStep(input))
      }
      for (const [index, input] of inputs.entries()) {
        assert.deepEqual(await harness.sendStep(index + 1, input, 0), first[index])
      }
      harness.recorded = 3
      const last: StepInput = { type: 'results', results: [{ index: 3, outcome: { status: 'ok', value: 3 } }] }
      assert.equal(expectResult(await harness.executeStep(last), 'completed').output, '3\n')
      await assert.rejects(harness.sendStep(2, inputs[1] as StepInput), { code: 'SANDBOX_FENCED' })
    },
  },
  {
    name: 'a step with other content than the one that was executed is rejected',
    async run(context) {
      const harness = await context.newHarness()
      harness.recorded = 0
      await harness.executeStep({ type: 'cell', cell: 1, source: 'await get(1)\nawait get(2)' })
      const results = (value: string): StepInput => ({
        type: 'results',
        results: [{ index: 1, outcome: { status: 'ok', value } }],
      })
      await harness.executeStep(results('one'))
      await assert.rejects(harness.sendStep(2, results('other'), 2), { code: 'SANDBOX_FENCED' })
      await assert.rejects(harness.sendStep(1, { type: 'cell', cell: 1, source: 'pass' }, 2), {
        code: 'SANDBOX_FENCED',
      })
    },
  },
  {
    name: 'a stale worker executes nothing, and gets the result of a step that was executed',
    async run(context) {
      const harness = await context.harness()
      harness.cell += 1
      harness.step += 1
      const cell = { type: 'cell' as const, cell: harness.cell, source: 'print("mine")' }
      const executed = await harness.sendStep(harness.step, cell, 3)
      assert.deepEqual(await harness.sendStep(harness.step, cell, 2), executed)
      const other = { ...cell, source: 'print("theirs")' }
      await assert.rejects(harness.sendStep(harness.step, other, 2), { code: 'SANDBOX_FENCED' })
    },
  },
]
