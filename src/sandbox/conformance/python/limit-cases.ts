import assert from 'node:assert/strict'
import { expectError, expectNear, expectResult } from '../expectations.js'
import type { CaseDefinition } from '../conformance-context.js'

/** Cells that exceed a limit. */
export const limitCases: readonly CaseDefinition[] = [
  {
    name: 'end after too many calls, even if the code catches the error',
    async run(context) {
      const harness = await context.newHarness({ callsPerCell: 3 })
      const { finalResult } = await harness.runCell(
        'while True:\n    try:\n        await get(1)\n    except Exception: pass',
      )
      assert.equal(expectResult(finalResult, 'failed').kind, 'limit_exceeded')
    },
  },
  {
    name: 'are stopped at their time limit',
    async run(context) {
      const harness = await context.newHarness({ cellSeconds: 2 })
      await harness.runCell('kept = 1')
      const { finalResult } = await harness.runCell('while True: pass')
      if (context.supportsInterrupt) {
        assert.equal(expectResult(finalResult, 'failed').kind, 'timed_out')
        assert.equal((await harness.runCell('print(kept)')).output, '1\n')
      } else {
        assert.equal(expectResult(finalResult, 'lost').cause, 'killed_at_limit')
      }
    },
  },
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
  {
    name: 'lose their tasks, but not the session, when they are stopped while they wait',
    async run(context) {
      const harness = await context.harness()
      const source = [
        'import asyncio',
        'before = 1',
        'async def tidy():',
        '    global tidied',
        '    try: await get("slow")',
        '    finally: tidied = True',
        'print("begun")',
        'await asyncio.gather(tidy(), get("other"))',
        'before = 2',
      ].join('\n')
      expectResult(await harness.startCell(source), 'suspended')
      const stop = { type: 'stop' as const, reason: 'it is late' }
      const stopped = await harness.executeStep(stop)
      expectError(stopped, 'it is late')
      assert.equal(expectResult(stopped, 'failed').kind, 'timed_out')
      assert.deepEqual(await harness.sendStep(harness.step, stop, 2), stopped)
      const next = await harness.runCell('print(before, tidied, len(asyncio.all_tasks()))\nprint(await get(3))')
      assert.equal(next.output, "1 True 1\n{'a': 3}\n")
      assert.equal(next.calls.length, 1)
    },
  },
  {
    name: 'divide the limit of captured output among their steps',
    async run(context) {
      const harness = await context.harness()
      const { stepResults, output } = await harness.runCell(
        'for i in range(6):\n    print(f"{i}" * 999_000)\n    await get(i)',
      )
      const [first = 0, ...others] = stepResults
        .slice(0, 6)
        .map((answer) => ('output' in answer ? answer.output.length : 0))
      assert.equal(first, 999_001)
      assert.equal(others.length, 5)
      for (const length of others) expectNear(length, 850, 50)
      assert.match(output, /^0+\n1+\n\[\.\.\. \d+ characters cut \.\.\.\]\n1+\n/)
    },
  },
]
