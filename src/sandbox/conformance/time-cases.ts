import assert from 'node:assert/strict'
import { expectAnswer, expectError, expectNear } from './expectations.js'
import type { CaseDefinition } from './scene.js'

/** Waiting of the code for time. */
export const timeCases: readonly CaseDefinition[] = [
  {
    name: 'of a long sleep is handed over instead of slept',
    async run(scene) {
      const { answers, output } = await (await scene.notebook()).run('await asyncio.sleep(3600)\nprint("woke")')
      const [first] = answers
      assert.ok(first)
      const { calls, wakeInMs } = expectAnswer(first, 'suspended')
      assert.deepEqual(calls, [])
      expectNear(wakeInMs, 3_600_000, 60_000)
      assert.equal(output, 'woke\n')
    },
  },
  {
    name: 'is up for a timeout around a call',
    async run(scene) {
      const notebook = await scene.notebook()
      const source =
        'try:\n    async with asyncio.timeout(60):\n        await get(1)\nexcept TimeoutError:\n    print("too slow")'
      const { wakeInMs } = expectAnswer(await notebook.begin(source), 'suspended')
      expectNear(wakeInMs, 60_000, 30_000)
      notebook.now += 60_000
      const end = expectAnswer(await notebook.advance({ type: 'results', results: [] }), 'completed')
      assert.equal(end.output, 'too slow\n')
    },
  },
  {
    name: 'is all that a timeout counts: none is over early because the code computed before it was set',
    async run(scene) {
      const notebook = await scene.notebook()
      const source = `
import asyncio, time
begun = time.time()
async with asyncio.timeout(2):
    await get(1)
    await get(2)
print(time.time() - begun > 60)`
      const first = expectAnswer(await notebook.begin(source), 'suspended')
      notebook.pass(60_000)
      notebook.now += 1_000
      const answerTo = ({ calls }: typeof first) =>
        notebook.advance({
          type: 'results',
          results: calls.map(({ index }) => ({ index, outcome: { status: 'ok', value: null } })),
        })
      const second = expectAnswer(await answerTo(first), 'suspended')
      assert.equal(second.calls.length, 1)
      expectNear(second.wakeInMs, 1_000, 10)
      assert.equal(expectAnswer(await answerTo(second), 'completed').output, 'True\n')
    },
  },
  {
    name: 'is not used up by computing: wait_for lets code end that computes between its awaits',
    async run(scene) {
      const source = `
import asyncio, time
async def compute():
    begun = time.perf_counter()
    while time.perf_counter() - begun < 0.5:
        sum(range(100_000))  # each turn of the loop is a microsecond to its timers
        await asyncio.sleep(0)
    return "computed"
print(await asyncio.wait_for(compute(), 0.1))`
      assert.equal((await (await scene.notebook()).run(source)).output, 'computed\n')
    },
  },
  {
    name: 'that can never come is an error, not a hang',
    async run(scene) {
      const { final } = await (await scene.notebook()).run('await asyncio.Future()')
      expectError(final, 'never happen')
    },
  },
]
