import assert from 'node:assert/strict'
import { expectError, expectResult, prints } from '../expectations.js'
import type { CaseDefinition } from '../conformance-context.js'

const ok = (value: unknown) => ({ status: 'ok' as const, value: value as never })

const refusesArgument = (kind: string, source: string, message: string): CaseDefinition => ({
  name: `with ${kind} are refused where they are made`,
  async run(context) {
    const { finalResult } = await (await context.harness()).runCell(source)
    expectError(finalResult, message)
  },
})

/** Programs that make two calls at once, and whether they need both results to continue. */
const concurrentCalls: Readonly<Record<string, readonly [source: string, waitsForAll: boolean]>> = {
  'one gather': ['print(await asyncio.gather(get(1), get(2)))', true],
  'a task group': ['async with asyncio.TaskGroup() as group:\n    [group.create_task(get(n)) for n in (1, 2)]', true],
  'a gather of functions': ['async def one(n):\n    print(await get(n))\nawait asyncio.gather(one(1), one(2))', false],
  'two gathers': [
    'async def both(n):\n    await asyncio.gather(get(n))\nawait asyncio.gather(both(1), both(2))',
    false,
  ],
  as_completed: ['for first in asyncio.as_completed([get(1), get(2)]):\n    await first', false],
  'a gather of tasks with a callback': [
    'both = [asyncio.ensure_future(get(n)) for n in (1, 2)]\nboth[0].add_done_callback(repr)\nawait asyncio.gather(*both)',
    false,
  ],
  'a gather beside a task': ['task = asyncio.ensure_future(get(1))\nawait asyncio.gather(get(2), get(3))', false],
}

const waitsForAllCase = (name: string): CaseDefinition => ({
  name: `of ${name} ${concurrentCalls[name]?.[1] ? 'are awaited together' : 'are awaited one by one'}`,
  async run(context) {
    const [source = '', expected = false] = concurrentCalls[name] ?? []
    const harness = await context.harness()
    const { calls, waitsForAll = false } = expectResult(await harness.startCell(source), 'suspended')
    assert.equal(waitsForAll, expected)
    const results = calls.map(({ index }) => ({ index, outcome: ok(1) }))
    expectResult(await harness.executeStep({ type: 'results', results }), 'completed')
  },
})

/** Tool calls of a program. */
export const callCases: readonly CaseDefinition[] = [
  prints(
    'accept keywords, positions or one dict, and return parsed JSON',
    'print(await get(a=1, b="x"), await get(1), (await get({"a": [None, 2.5]}))["a"][1])',
    "{'a': 1, 'b': 'x'} {'a': 1} 2.5\n",
  ),
  prints(
    'take an argument with the name of a keyword in a dict',
    'import inspect\nprint(await rent({"from": 3}), await rent(**{"from": 4}), inspect.signature(rent))',
    "{'from': 3} {'from': 4} ()\n",
  ),
  ...Object.keys(concurrentCalls).map(waitsForAllCase),
  {
    name: 'raise exceptions that the code can catch',
    async run(context) {
      const source =
        'try:\n    await get(1)\nexcept ToolOutcomeUnknown as e:\n    print(type(e).__name__, e, e.status, e.tool)'
      const harness = await context.harness()
      const { output } = await harness.runCell(source, () => ({ status: 'outcome_unknown', message: 'who knows' }))
      assert.equal(output, 'ToolOutcomeUnknown who knows outcome_unknown get\n')
    },
  },
  refusesArgument('a set', 'await get({1})', 'JSON values only'),
  refusesArgument('bytes', 'await get(b"x")', 'JSON values only: Object of type bytes is not JSON serializable'),
  refusesArgument(
    'a datetime',
    'import datetime\nawait get(datetime.date.today())',
    'Object of type date is not JSON serializable',
  ),
  refusesArgument('NaN', 'await get(float("nan"))', 'JSON values only'),
  refusesArgument('a missing argument', 'await get()', "missing 'a'"),
  refusesArgument('too many arguments', 'await get(1, 2, 3)', 'takes 2 arguments'),
]
