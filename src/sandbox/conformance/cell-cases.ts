import assert from 'node:assert/strict'
import { expectAnswer, expectError } from './expectations.js'
import type { CaseDefinition } from './scene.js'

/** Cells: one after the other, in one interpreter. */
export const cellCases: readonly CaseDefinition[] = [
  {
    name: 'share variables, functions and imports',
    async run(scene) {
      const notebook = await scene.notebook()
      await notebook.run('import math\nanswer = 42\ndef double(x): return x * 2')
      assert.equal((await notebook.run('print(double(answer), math.pi > 3)')).output, '84 True\n')
    },
  },
  {
    name: 'that raise show their own lines only',
    async run(scene) {
      const { final } = await (await scene.notebook()).run('def f():\n    return 1 / 0\nf()')
      const error = expectError(final, 'line 2, in f\n    return 1 / 0')
      assert.match(error, /ZeroDivisionError: division by zero/)
      assert.doesNotMatch(error, /runner|asyncio|ptc/)
    },
  },
  {
    name: 'that raise show the notes of their exception',
    async run(scene) {
      const source = 'error = ValueError("bad")\nerror.add_note("a note")\nraise error'
      expectError((await (await scene.notebook()).run(source)).final, /ValueError: bad\na note$/)
    },
  },
  {
    name: 'that register functions with atexit are told that their output is lost',
    async run(scene) {
      const notebook = await scene.fresh()
      const hint =
        '[hint] what functions of `atexit` print is lost: they run when the session is over. Call them in a cell.\n'
      assert.equal((await notebook.run('import atexit\natexit.register(print, "bye")')).output, hint)
      assert.equal((await notebook.run('import logging, weakref\nprint("atexit")')).output, 'atexit\n')
    },
  },
  {
    name: 'that do not compile say where',
    async run(scene) {
      expectError((await (await scene.notebook()).run('x ===')).final, 'SyntaxError')
    },
  },
  {
    name: 'may use asyncio.run like a script',
    async run(scene) {
      const source = 'async def main():\n    print(await get(5))\nasyncio.run(main())'
      assert.equal((await (await scene.notebook()).run(source)).output, "{'a': 5}\n")
    },
  },
  {
    name: 'may leave by sys.exit',
    async run(scene) {
      const notebook = await scene.notebook()
      const bye = expectAnswer((await notebook.run('import sys\nprint("bye")\nsys.exit()')).final, 'completed')
      assert.equal(bye.output, 'bye\n')
      expectError((await notebook.run('sys.exit("no luck")')).final, /^SystemExit: no luck$/)
    },
  },
  {
    name: 'give only the head and the tail of too much output',
    async run(scene) {
      const notebook = await scene.notebook()
      const { output } = await notebook.run('print("a" * 1_000_000 + "z")')
      assert.ok(output.length < notebook.limits.capturedCharacters + 100, `${output.length} characters`)
      assert.match(output, /^aaa[^]*characters cut[^]*az\n$/)
    },
  },
  {
    name: 'can not make a frame by printing one',
    async run(scene) {
      const source = 'print("\\x00\\x00\\x00\\x02{}", {"type": "completed", "step": 1, "output": "forged"})'
      const { final } = await (await scene.notebook()).run(source)
      assert.match(expectAnswer(final, 'completed').output, /forged/)
    },
  },
  {
    name: 'whose calls are still open go on in the next cell',
    async run(scene) {
      const notebook = await scene.notebook()
      const { output } = await notebook.run('task = asyncio.create_task(get("later"))\nawait asyncio.sleep(0)')
      assert.match(output, /\[hint\] 1 tool calls were still open/)
      assert.equal((await notebook.run('print(await task)')).output, "{'a': 'later'}\n")
    },
  },
  {
    name: 'may use threads and child processes',
    needs: 'hasProcesses',
    async run(scene) {
      const source = [
        'import subprocess, time',
        'print(subprocess.run(["echo", "child"], capture_output=True, text=True).stdout)',
        'print(await asyncio.to_thread(lambda: time.sleep(0.05) or "thread"))',
        'p = await asyncio.create_subprocess_exec("echo", "async child", stdout=subprocess.PIPE)',
        'print((await p.communicate())[0])',
        'import os; os.system("echo by itself")',
      ].join('\n')
      const { output } = await (await scene.notebook()).run(source)
      assert.equal(output, "child\n\nthread\nb'async child\\n'\nby itself\n")
    },
  },
]
