import assert from 'node:assert/strict'
import { expectAnswer, expectError } from './expectations.js'
import type { CaseDefinition } from './scene.js'

const ok = (value: unknown) => ({ status: 'ok' as const, value: value as never })

const refused = (what: string, source: string, message: string): CaseDefinition => ({
  name: `with ${what} are refused where they are made`,
  async run(scene) {
    const { final } = await (await scene.notebook()).run(source)
    expectError(final, message)
  },
})

/** Tool calls of the code. */
export const callCases: readonly CaseDefinition[] = [
  {
    name: 'take keywords, positions or one dict, and return parsed JSON',
    async run(scene) {
      const source = 'print(await get(a=1, b="x"), await get(1), (await get({"a": [None, 2.5]}))["a"][1])'
      const { output } = await (await scene.notebook()).run(source)
      assert.equal(output, "{'a': 1, 'b': 'x'} {'a': 1} 2.5\n")
    },
  },
  {
    name: 'of one gather are one suspension',
    async run(scene) {
      const source = 'import asyncio\nprint(await asyncio.gather(*(get(i) for i in range(50))))'
      const { answers, calls } = await (await scene.notebook()).run(source)
      assert.deepEqual(
        answers.map(({ type }) => type),
        ['suspended', 'completed'],
      )
      assert.deepEqual(
        calls.map(({ arguments: args }) => args['a']),
        Array.from({ length: 50 }, (_, index) => index),
      )
    },
  },
  {
    name: 'of as_completed are served as they arrive',
    async run(scene) {
      const notebook = await scene.notebook()
      const source = 'for first in asyncio.as_completed([get("slow"), get("quick")]):\n    print((await first)["a"])'
      const { calls } = expectAnswer(await notebook.begin(source), 'suspended')
      const result = (a: string) => {
        const call = calls.find(({ arguments: args }) => args['a'] === a)
        return [{ index: call?.index ?? 0, outcome: ok({ a }) }]
      }
      const after = expectAnswer(await notebook.advance({ type: 'results', results: result('quick') }), 'suspended')
      assert.deepEqual([after.calls, after.output], [[], 'quick\n'])
      const end = expectAnswer(await notebook.advance({ type: 'results', results: result('slow') }), 'completed')
      assert.equal(end.output, 'slow\n')
    },
  },
  {
    name: 'in loops and conditions happen one after the other',
    async run(scene) {
      const source = 'n = 0\nwhile (await get(n))["a"] < 3:\n    n += 1\nprint(n)'
      const { output, answers } = await (await scene.notebook()).run(source)
      assert.equal(output, '3\n')
      assert.equal(answers.length, 5)
    },
  },
  {
    name: 'that fail are exceptions the code can catch',
    async run(scene) {
      const source =
        'try:\n    await get(1)\nexcept ToolOutcomeUnknown as e:\n    print(type(e).__name__, e, e.status, e.tool)'
      const notebook = await scene.notebook()
      const { output } = await notebook.run(source, () => ({ status: 'outcome_unknown', message: 'who knows' }))
      assert.equal(output, 'ToolOutcomeUnknown who knows outcome_unknown get\n')
    },
  },
  {
    name: 'that fail uncaught end the cell with their message',
    async run(scene) {
      const notebook = await scene.notebook()
      const { final } = await notebook.run('await get(1)', () => ({ status: 'denied', message: 'not you' }))
      expectError(final, 'ToolDenied: not you')
      assert.equal(expectAnswer(final, 'failed').kind, 'code_error')
    },
  },
  refused('a set', 'await get({1})', 'JSON values only'),
  refused('bytes', 'await get(b"x")', 'JSON values only: Object of type bytes is not JSON serializable'),
  refused(
    'a datetime',
    'import datetime\nawait get(datetime.date.today())',
    'Object of type date is not JSON serializable',
  ),
  refused('NaN', 'await get(float("nan"))', 'JSON values only'),
  refused('a missing argument', 'await get()', "missing 'a'"),
  refused('too many arguments', 'await get(1, 2, 3)', 'takes 2 arguments'),
  {
    name: 'with more arguments than one suspension carries are handed over in several, none of them waiting',
    async run(scene) {
      const notebook = await scene.notebook()
      const source = 'big = "x" * 200_000\nprint(len(await asyncio.gather(*(get(big) for _ in range(12)))))'
      let answer = expectAnswer(await notebook.begin(source), 'suspended')
      assert.equal(answer.wakeInMs, 0)
      const calls = [...answer.calls]
      while (answer.wakeInMs === 0) {
        answer = expectAnswer(await notebook.advance({ type: 'results', results: [] }), 'suspended')
        calls.push(...answer.calls)
      }
      assert.equal(answer.wakeInMs, null)
      assert.equal(calls.length, 12)
      const results = calls.map(({ index }) => ({ index, outcome: ok(1) }))
      assert.equal(expectAnswer(await notebook.advance({ type: 'results', results }), 'completed').output, '12\n')
    },
  },
  {
    name: 'take back results of many megabytes in one step',
    async run(scene) {
      const megabyte = 'y'.repeat(900_000)
      const source = 'print(sum(len(x) for x in await asyncio.gather(*(get(i) for i in range(8)))))'
      const { output } = await (await scene.notebook()).run(source, () => ok(megabyte))
      assert.equal(output, '7200000\n')
    },
  },
  {
    name: 'that were never awaited give a hint, once',
    async run(scene) {
      const notebook = await scene.notebook()
      const { output } = await notebook.run('x = get(1)\nget(2)\nprint("done")')
      assert.equal(output, 'done\n[hint] get() was called but never awaited: write `await get(...)`.\n')
      assert.equal((await notebook.run('print(1)')).output, '1\n')
    },
  },
]
