import assert from 'node:assert/strict'
import { expectNear, expectResult, fails, prints } from '../expectations.js'
import type { CaseDefinition } from '../conformance-context.js'

/** Code that waits for a time. */
export const timeCases: readonly CaseDefinition[] = [
  {
    name: 'a long sleep is a timer of the workflow',
    async run(context) {
      const { stepResults, output } = await (
        await context.harness()
      ).runCell('await asyncio.sleep(3600)\nprint("woke")')
      const [first] = stepResults
      assert.ok(first)
      const { calls, wakeInMs } = expectResult(first, 'suspended')
      assert.deepEqual(calls, [])
      expectNear(wakeInMs, 3_600_000, 60_000)
      assert.equal(output, 'woke\n')
    },
  },
  {
    name: 'a timeout around a call is raised',
    async run(context) {
      const harness = await context.harness()
      const source =
        'try:\n    async with asyncio.timeout(60):\n        await get(1)\nexcept TimeoutError:\n    print("too slow")'
      const { wakeInMs } = expectResult(await harness.startCell(source), 'suspended')
      expectNear(wakeInMs, 60_000, 30_000)
      harness.now += 60_000
      const end = expectResult(await harness.executeStep({ type: 'results', results: [] }), 'completed')
      assert.equal(end.output, 'too slow\n')
    },
  },
  {
    name: 'timeouts count waiting only, not earlier computing',
    async run(context) {
      const harness = await context.harness()
      const source = `
import asyncio, time
begun = time.time()
async with asyncio.timeout(2):
    await get(1)
    await get(2)
print(time.time() - begun > 60)`
      const first = expectResult(await harness.startCell(source), 'suspended')
      harness.addComputeTime(60_000)
      harness.now += 1_000
      const answerTo = ({ calls }: typeof first) =>
        harness.executeStep({
          type: 'results',
          results: calls.map(({ index }) => ({ index, outcome: { status: 'ok', value: null } })),
        })
      const second = expectResult(await answerTo(first), 'suspended')
      assert.equal(second.calls.length, 1)
      expectNear(second.wakeInMs, 1_000, 10)
      assert.equal(expectResult(await answerTo(second), 'completed').output, 'True\n')
    },
  },
  prints(
    'wait_for does not count computing between awaits',
    `
import asyncio, time
async def compute():
    begun = time.perf_counter()
    while time.perf_counter() - begun < 0.5:
        sum(range(100_000))  # each turn of the loop is a microsecond to its timers
        await asyncio.sleep(0)
    return "computed"
print(await asyncio.wait_for(compute(), 0.1))`,
    'computed\n',
  ),
  fails('waiting that can never end is an error, not a hang', 'await asyncio.Future()', 'never happen'),
]
