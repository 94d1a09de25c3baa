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
  {
    name: 'one gather is one suspension',
    async run(context) {
      const source = 'import asyncio\nprint(await asyncio.gather(*(get(i) for i in range(50))))'
      const { stepResults, calls } = await (await context.harness()).runCell(source)
      assert.deepEqual(
        stepResults.map(({ type }) => type),
        ['suspended', 'completed'],
      )
      assert.deepEqual(
        calls.map(({ arguments: args }) => args['a']),
        Array.from({ length: 50 }, (_, index) => index),
      )
    },
  },
  ...Object.keys(concurrentCalls).map(waitsForAllCase),
  {
    name: 'as_completed yields results as they arrive',
    async run(context) {
      const harness = await context.harness()
      const source = 'for first in asyncio.as_completed([get("slow"), get("quick")]):\n    print((await first)["a"])'
      const { calls } = expectResult(await harness.startCell(source), 'suspended')
      const result = (a: string) => {
        const call = calls.find(({ arguments: args }) => args['a'] === a)
        return [{ index: call?.index ?? 0, outcome: ok({ a }) }]
      }
      const after = expectResult(await harness.executeStep({ type: 'results', results: result('quick') }), 'suspended')
      assert.deepEqual([after.calls, after.output], [[], 'quick\n'])
      const end = expectResult(await harness.executeStep({ type: 'results', results: result('slow') }), 'completed')
      assert.equal(end.output, 'slow\n')
    },
  },
  {
    name: 'loops and conditions make calls one after the other',
    async run(context) {
      const source = 'n = 0\nwhile (await get(n))["a"] < 3:\n    n += 1\nprint(n)'
      const { output, stepResults } = await (await context.harness()).runCell(source)
      assert.equal(output, '3\n')
      assert.equal(stepResults.length, 5)
    },
  },
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
  {
    name: 'an uncaught error ends the cell with its message',
    async run(context) {
      const harness = await context.harness()
      const { finalResult } = await harness.runCell('await get(1)', () => ({ status: 'denied', message: 'not you' }))
      expectError(finalResult, 'ToolDenied: not you')
      assert.equal(expectResult(finalResult, 'failed').kind, 'code_error')
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
  {
    name: 'more arguments than fit into one suspension are sent in several',
    async run(context) {
      const harness = await context.harness()
      const source = 'big = "x" * 200_000\nprint(len(await asyncio.gather(*(get(big) for _ in range(12)))))'
      let suspension = expectResult(await harness.startCell(source), 'suspended')
      assert.equal(suspension.wakeInMs, 0)
      const calls = [...suspension.calls]
      while (suspension.wakeInMs === 0) {
        suspension = expectResult(await harness.executeStep({ type: 'results', results: [] }), 'suspended')
        calls.push(...suspension.calls)
      }
      assert.equal(suspension.wakeInMs, null)
      assert.equal(calls.length, 12)
      const results = calls.map(({ index }) => ({ index, outcome: ok(1) }))
      assert.equal(expectResult(await harness.executeStep({ type: 'results', results }), 'completed').output, '12\n')
    },
  },
  {
    name: 'accept results of many megabytes in one step',
    async run(context) {
      const megabyte = 'y'.repeat(900_000)
      const source = 'print(sum(len(x) for x in await asyncio.gather(*(get(i) for i in range(8)))))'
      const { output } = await (await context.harness()).runCell(source, () => ok(megabyte))
      assert.equal(output, '7200000\n')
    },
  },
  {
    name: 'a call without await causes one hint',
    async run(context) {
      const harness = await context.harness()
      const { output } = await harness.runCell('x = get(1)\nget(2)\nprint("done")')
      assert.equal(output, 'done\n[hint] get() was called but never awaited: write `await get(...)`.\n')
      assert.equal((await harness.runCell('print(1)')).output, '1\n')
    },
  },
]
