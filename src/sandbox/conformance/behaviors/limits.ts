import assert from 'node:assert/strict'
import { expectError, expectResult } from '../expectations.js'
import type { ConformanceContext } from '../conformance-context.js'
import type { SessionHarness } from '../session-harness.js'
import { type Behavior, type Behaviors, inSession } from './behavior.js'

/** Code that runs until it is ended. The first cell runs for ever; the second one prints `kept`. */
const endsAtTimeLimit: Behavior = {
  async check(context, [endless = '', show = '']) {
    const harness = await context.newHarness({ cellSeconds: 2 })
    const { finalResult } = await harness.runCell(endless)
    if (context.capabilities.supportsInterrupt) {
      assert.equal(expectResult(finalResult, 'failed').kind, 'timed_out')
      assert.equal((await harness.runCell(show)).output, 'kept\n')
    } else {
      assert.equal(expectResult(finalResult, 'lost').cause, 'killed_at_limit')
    }
  },
}

/** Code that is ended from outside, or because it needs too much. */
export const limitBehaviors = {
  'a cell ends after too many calls, even if its code catches the error': inSession(
    async (harness, [source = '']) => {
      const { finalResult, calls } = await harness.runCell(source)
      assert.equal(expectResult(finalResult, 'failed').kind, 'limit_exceeded')
      assert.equal(calls.length, 3)
    },
    { limits: { callsPerCell: 3 } },
  ),
  'a busy loop ends at the time limit, and variables stay': endsAtTimeLimit,
  'an endless loop that lets other work run ends at the time limit': endsAtTimeLimit,
  'output is sent while code runs': {
    requires: 'supportsInterrupt',
    check: async (context, [source = '']) => assert.match((await interruptAfterOutput(context, source)).seen, /\./),
  },
  'an interrupt ends running code, and variables stay': {
    requires: 'supportsInterrupt',
    async check(context, [source = '', show = '']) {
      const { harness, result } = await interruptAfterOutput(context, source)
      const failed = expectResult(result, 'failed')
      assert.equal(failed.kind, 'stopped')
      assert.ok(failed.interruptedAfterMs !== undefined)
      assert.equal((await harness.runCell(show)).output, 'kept\n')
    },
  },
  'code that is ended can tidy up': {
    requires: 'supportsInterrupt',
    check: async (context, cells) => assert.equal(await tidiedAfterLimit(context, cells), 'true\n'),
  },
  'a cell that is stopped while it waits loses its work, and variables stay': inSession(
    async (harness, [source = '', next = '']) => {
      expectResult(await harness.startCell(source), 'suspended')
      const stop = { type: 'stop' as const, reason: 'it is late' }
      const stopped = await harness.executeStep(stop)
      expectError(stopped, 'it is late')
      assert.equal(expectResult(stopped, 'failed').kind, 'timed_out')
      assert.deepEqual(await harness.sendStep(harness.step, stop, 2), stopped)
      const { output, calls } = await harness.runCell(next)
      assert.equal(output, '1 3\n')
      assert.equal(calls.length, 1)
    },
  ),
} satisfies Behaviors

/** Runs a cell that is ended at its time limit, and one that prints whether it has tidied up. Returns what that prints. */
export async function tidiedAfterLimit(context: ConformanceContext, cells: readonly string[]): Promise<string> {
  const [endless = '', show = ''] = cells
  const harness = await context.newHarness({ cellSeconds: 1 })
  expectResult((await harness.runCell(endless)).finalResult, 'failed')
  return (await harness.runCell(show)).output
}

/** Starts a cell that prints without end, and interrupts it when its output arrives. */
async function interruptAfterOutput(context: ConformanceContext, source: string) {
  const harness = await context.newHarness()
  let seen = ''
  harness.onOutput = (text) => {
    if (seen === '') void interrupt(harness)
    seen += text
  }
  const result = await harness.startCell(source)
  return { harness, result, seen }
}

function interrupt(harness: SessionHarness): Promise<boolean> {
  return harness.host.interrupt(harness.session, harness.step)
}
