import assert from 'node:assert/strict'
import { expectError, fails, prints } from '../expectations.js'
import type { CaseDefinition } from '../conformance-context.js'

/** Cells that run one after the other in one interpreter. */
export const cellCases: readonly CaseDefinition[] = [
  fails(
    'name what can be imported, when a module is missing',
    'import leftpad',
    "No module named 'leftpad'\n[hint] Packages can't be installed. This sandbox has Python's standard library",
  ),
  {
    name: 'show only their own lines in tracebacks',
    async run(context) {
      const { finalResult } = await (await context.harness()).runCell('def f():\n    return 1 / 0\nf()')
      const error = expectError(finalResult, 'line 2, in f\n    return 1 / 0')
      assert.match(error, /ZeroDivisionError: division by zero/)
      assert.doesNotMatch(error, /runner|asyncio|ptc/)
    },
  },
  fails(
    'show the notes of an exception',
    'error = ValueError("bad")\nerror.add_note("a note")\nraise error',
    /ValueError: bad\na note$/,
  ),
  {
    name: 'show half surrogate pairs as escape sequences',
    async run(context) {
      const source = String.raw`half = "\ud83d"${'\n'}print(half, "😀")${'\n'}raise ValueError(half)`
      const { output, finalResult } = await (await context.harness()).runCell(source)
      assert.equal(output, '\\ud83d 😀\n')
      expectError(finalResult, String.raw`ValueError: \ud83d`)
    },
  },
  {
    name: 'get a hint that the output of atexit functions is lost',
    async run(context) {
      const harness = await context.newHarness()
      const hint =
        '[hint] what functions of `atexit` print is lost: they run when the session is over. Call them in a cell.\n'
      assert.equal((await harness.runCell('import atexit\natexit.register(print, "bye")')).output, hint)
      assert.equal((await harness.runCell('import logging, weakref\nprint("atexit")')).output, 'atexit\n')
    },
  },
  fails(
    'show the lines as the compiler counts them',
    'a = "\f \v \x1c \x85 \u2028"\r\ndef fail():\r    return 1 / 0  # here\nfail()',
    /line 3, in fail\n {4}return 1 \/ 0 +# here/,
  ),
  ...(
    [
      ['```python\nprint(1)\n```', /Markdown fence/],
      ['Here is the code:\n\n```\nprint(1)\n```', /Markdown fence/],
      ['~~~python\nprint(1)\n~~~', /Markdown fence/],
      ['x = 1\n%matplotlib inline', /Commands of IPython/],
      ['files = !ls', /Commands of IPython/],
      ['!pip install requests', /Packages can't be installed/],
      ['pip install requests', /Packages can't be installed/],
      ['x = 1\nreturn x', /not a function: print the result/],
      ['x = 1\nyield x', /not a function: append the values/],
      ['yield from [1]', /not a function: append the values/],
      ['def f():\n    return await get(1)', /write `async def`/],
      ['import os\\nprint(1)', /escaped twice/],
    ] as const
  ).map(([source, hint]): CaseDefinition => ({
    name: `get a hint for the text ${JSON.stringify(source)}`,
    async run(context) {
      const { finalResult } = await (await context.harness()).runCell(source)
      assert.match(expectError(finalResult, /SyntaxError|IndentationError/).split('[hint]')[1] ?? '', hint)
    },
  })),
  {
    name: 'get no hint for a Markdown fence within a string that does not end, or beside another error',
    async run(context) {
      const harness = await context.harness()
      const documents = ['"""', "'''"].map((quotes) => `${quotes}\n# Report\n\`\`\`python\nx\n\`\`\`\n`)
      const [double = '', single = ''] = documents
      for (const source of [
        `report = ${double}`,
        `report = ${single}`,
        `print(\n${double}"""\n`,
        `x = = 1\n${double}"""`,
      ])
        assert.doesNotMatch(expectError((await harness.runCell(source)).finalResult, 'SyntaxError'), /fence/)
    },
  },
  {
    name: 'get a hint that JSON of a program runs nothing',
    async run(context) {
      const harness = await context.harness()
      for (const value of ['import os\nprint(1)', { code: 'print(1)' }, [{ code: 'print(1)' }]])
        assert.match((await harness.runCell(JSON.stringify(value))).output, /^\[hint\] Nothing ran: /)
      const others = [
        '"a text"',
        '{"code": 1}',
        '{"a": "print(1)"}',
        '["print(1)", 2]',
        `${'{"a":'.repeat(90)}1${'}'.repeat(90)}`,
      ]
      for (const source of others) assert.equal((await harness.runCell(source)).output, '')
    },
  },
  {
    name: 'may raise errors that can not be printed',
    async run(context) {
      const harness = await context.harness()
      const source = 'class Text:\n    def __str__(self): return 1 / 0\n'
      for (const error of ['RuntimeError(Text())', 'SyntaxError(Text(), ("<cell 1>", 1, 1, Text()))'])
        expectError((await harness.runCell(`${source}raise ${error}`)).finalResult, /Error/)
    },
  },
  prints(
    'may use asyncio.run like a script',
    'async def main():\n    print(await get(5))\nasyncio.run(main())',
    "{'a': 5}\n",
  ),
  prints(
    'may use threads and child processes',
    [
      'import subprocess, time',
      'print(subprocess.run(["echo", "child"], capture_output=True, text=True).stdout)',
      'print(await asyncio.to_thread(lambda: time.sleep(0.05) or "thread"))',
      'p = await asyncio.create_subprocess_exec("echo", "async child", stdout=subprocess.PIPE)',
      'print((await p.communicate())[0])',
      'import os; os.system("echo by itself")',
    ].join('\n'),
    "child\n\nthread\nb'async child\\n'\nby itself\n",
    { requires: 'supportsProcesses' },
  ),
]
