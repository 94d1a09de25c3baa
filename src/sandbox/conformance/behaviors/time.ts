import assert from 'node:assert/strict'
import type { StepResult } from '../../../common/session/steps.js'
import { expectNear, expectResult } from '../expectations.js'
import type { SessionHarness } from '../session-harness.js'
import { type Behaviors, fails, inSession, prints, printsJson } from './behavior.js'

/** Code that waits for a time. */
export const timeBehaviors = {
  'a long sleep is a timer of the workflow': inSession(async (harness, [source = '']) => {
    const { stepResults, output } = await harness.runCell(source)
    const [first] = stepResults
    assert.ok(first)
    const { calls, wakeInMs } = expectResult(first, 'suspended')
    assert.deepEqual(calls, [])
    expectNear(wakeInMs, 3_600_000, 60_000)
    assert.equal(output, 'woke\n')
  }),
  'code can limit how long it waits for a call': inSession(async (harness, [source = '']) => {
    const { calls, wakeInMs } = expectResult(await harness.startCell(source), 'suspended')
    expectNear(wakeInMs, 60_000, 30_000)
    harness.now += 60_000
    const late = await harness.executeStep({ type: 'results', results: [] })
    assert.equal(outputOf(late), 'too slow\n')
    await endCell(harness, late, calls[0]?.index)
  }),
  'such a limit counts waiting, and not earlier computing': inSession(async (harness, [source = '']) => {
    const first = expectResult(await harness.startCell(source), 'suspended')
    harness.addComputeTime(60_000)
    harness.now += 1_000
    const results = first.calls.map(({ index }) => ({ index, outcome: { status: 'ok' as const, value: null } }))
    const second = expectResult(await harness.executeStep({ type: 'results', results }), 'suspended')
    assert.equal(second.calls.length, 1)
    expectNear(second.wakeInMs, 1_000, 10)
    const end = await harness.executeStep({
      type: 'results',
      results: second.calls.map(({ index }) => ({ index, outcome: { status: 'ok', value: null } })),
    })
    assert.equal(expectResult(end, 'completed').output, 'in time\n')
  }),
  'timers end in the order of their times': printsJson([['a', 'b', 'c', 'd']]),
  'a sleep moves every clock': printsJson([[3_600, 3_600]], { isFresh: true }),
  'a loop that waits for the clock ends': prints('ended\n'),
  'the clock has the time of the run': inSession(
    async (harness, [source = '']) => {
      harness.now = 3_600_000
      const { output } = await harness.runCell(source)
      const late = Number(output) - harness.session.startedAt - harness.now
      assert.ok(late >= 0 && late <= 1, `${late} ms late`)
    },
    { isFresh: true },
  ),
  'waiting for what can never happen is an error, not a hang': fails('never happen'),
} satisfies Behaviors

/** Delivers a result that code no longer waits for, where the cell waits for it. */
async function endCell(harness: SessionHarness, last: StepResult, index = 0): Promise<void> {
  const results = [{ index, outcome: { status: 'ok' as const, value: null } }]
  const end = last.type === 'suspended' ? await harness.executeStep({ type: 'results', results }) : last
  expectResult(end, 'completed')
}

function outputOf(result: StepResult): string {
  return 'output' in result ? result.output : ''
}
