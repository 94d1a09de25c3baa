import assert from 'node:assert/strict'
import type { CaseDefinition } from '../conformance-context.js'
import { expectError } from '../expectations.js'

const checked = { checked: true } as const

/** Cells that are checked for mistakes before they run. */
export const checkCases: readonly CaseDefinition[] = [
  {
    name: 'with a mistake have no effect, and name each mistake with its line',
    async run(context) {
      const harness = await context.newHarness()
      const source = 'x = 1\nprint(x)\nawait get(1)\nget(2)\nawait get(b=2)\nawait gett(3)\nprint(len(get(4)), xx)'
      const { finalResult, output, calls } = await harness.runCell(source, undefined, checked)
      const error = expectError(finalResult, 'The code was checked before it ran')
      assert.deepEqual(error.split('\n').slice(1), [
        'line 4: get() is called but never awaited: write `await get(...)`.',
        "line 5: TypeError: get() is missing 'a'; it takes (a, b)",
        "line 6: NameError: name 'gett' is not defined. Did you mean the tool get()?",
        'line 7: get() is called but never awaited: write `await get(...)`.',
        "line 7: NameError: name 'xx' is not defined.",
      ])
      assert.deepEqual([output, calls], ['', []])
      const next = await harness.runCell('print("x" in globals())', undefined, checked)
      assert.equal(next.output, 'False\n')
    },
  },
  {
    name: 'know the names of earlier cells, and run unchecked after code that may define names',
    async run(context) {
      const harness = await context.newHarness()
      const run = async (source: string) => (await harness.runCell(source, undefined, checked)).output
      assert.equal(await run('import math\ndata = [1]\nasync def load():\n    return await get(data)'), '')
      assert.equal(await run('print(await load(), math.pi > 3)'), "{'a': [1]} True\n")
      assert.equal(await run('def define():\n    global late\n    late = 5'), '')
      assert.equal(await run('define()\nprint(late)'), '5\n')
    },
  },
  {
    name: 'show the warnings of the compiler once',
    async run(context) {
      const harness = await context.newHarness()
      await harness.runCell('import warnings\nwarnings.simplefilter("always")', undefined, checked)
      const { output } = await harness.runCell('pattern = "\\d"\nprint(1 is 1)', undefined, checked)
      assert.equal(output.match(/invalid escape sequence/g)?.length, 1)
      assert.equal(output.match(/"is" with /g)?.length, 1)
    },
  },
  {
    name: 'that are large, nested deeply or no text run as without the check',
    async run(context) {
      const harness = await context.newHarness()
      const { output } = await harness.runCell(`${'x = 1\n'.repeat(20_000)}print(x)`, undefined, checked)
      assert.equal(output, '1\n')
      const fresh = await context.newHarness()
      const nested = await fresh.runCell(`x = ${'-'.repeat(1_000)}1\nprint(x)`, undefined, checked)
      assert.equal(nested.output, '1\n')
      const other = await context.newHarness()
      const lone = await other.runCell('x = "\ud800"', undefined, checked)
      assert.equal(lone.finalResult.type, 'failed')
      assert.equal((await other.runCell('print(1)', undefined, checked)).output, '1\n')
    },
  },
]
