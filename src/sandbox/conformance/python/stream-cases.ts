import assert from 'node:assert/strict'
import { expectError, expectResult, prints } from '../expectations.js'
import type { CaseDefinition } from '../conformance-context.js'

/** Standard streams of ordinary Python, and other state of the interpreter that the runner shares with programs. */
export const streamCases: readonly CaseDefinition[] = [
  {
    name: 'may print to descriptors and to the original streams',
    async run(context) {
      const source = `
import os, sys
own = sys.stdout
sys.stdout = sys.__stdout__
print("stdout restored")
print("__stdout__", file=sys.__stdout__)
print("__stderr__", file=sys.__stderr__)
os.write(1, b"descriptor 1\\n")
os.write(2, b"descriptor 2\\n")
print(sys.stdout is own)
`
      const harness = await context.harness()
      assert.equal(
        expectResult((await harness.runCell(source)).finalResult, 'completed').output,
        'stdout restored\n__stdout__\n__stderr__\ndescriptor 1\ndescriptor 2\nTrue\n',
      )
    },
  },
  prints(
    'reads the end of file from standard input',
    `
import sys
try:
    input("name? ")
except EOFError as error:
    print(error)
print(repr(sys.stdin.read()), repr(open(0, closefd=False).read()), repr(open("/dev/stdin").read()))
with open(0) as file: print(repr(file.read()))
`,
    "name? EOF when reading a line\n'' '' ''\n''\n",
    { isFresh: true },
  ),
  prints(
    'may append to /dev/stdout and /dev/stderr',
    `
print("first")
out, error = open("/dev/stdout", "a"), open("/dev/stderr", "a")
print("by path", file=out, flush=True)
print("error by path", file=error, flush=True)
print("own")
await get(1)
print("by path, later", file=out, flush=True)
print("own, later")
out.close(), error.close()
`,
    'first\nby path\nerror by path\nown\nby path, later\nown, later\n',
    { isFresh: true },
  ),
  {
    name: 'erases the output of its step when it opens /dev/stdout for writing',
    async run(context) {
      const harness = await context.newHarness()
      const source =
        'print("kept")\nawait get(1)\nprint("erased")\nopen("/dev/stdout", "w").write("by path\\n")\nprint("own")'
      const { finalResult, output } = await harness.runCell(source)
      expectResult(finalResult, 'completed')
      assert.equal(output, 'kept\nby path\nown\n')
      const held =
        'file = open("/dev/stdout", "w")\nfile.write("1234")\nfile.flush()\nawait get(1)\nfile.write("5")\nfile.close()'
      assert.equal((await harness.runCell(held)).output, '1234\0\0\0\u00005')
    },
  },
  ...[
    ['closes', 'sys.stdout.close(); sys.stderr.close()'],
    [
      'leaves closed files as',
      'with open("/tmp/log", "w") as sys.stdout, open("/tmp/log", "w") as sys.stderr: print(1)',
    ],
    ['detaches', 'sys.stdout.detach(); sys.stderr.detach()'],
    ['deletes', 'del sys.stdout, sys.stderr, sys.__stdout__'],
    [
      'wraps and loses',
      'import io\nfor _ in "12":\n  sys.stdout = io.TextIOWrapper(sys.__stdout__.buffer)\nsys.stderr = None',
    ],
  ].map(([does = '', source]): CaseDefinition => ({
    name: `can print after a cell that ${does} its standard streams, and is told once`,
    async run(context) {
      const harness = await context.newHarness()
      await harness.runCell(`import sys\nown = sys.stdout\n${source}`)
      const print = 'print("out")\nprint("error", file=sys.stderr)\nprint("own", file=sys.__stdout__ and own)'
      const printed = 'out\nerror\nown\n'
      const restored = (name: string) => `[hint] sys.${name} was closed by earlier code, and is restored.\n`
      const { output } = await harness.runCell(print)
      assert.equal(output, printed + restored('stdout') + restored('stderr'))
      assert.equal((await harness.runCell(print)).output, printed)
    },
  })),
  {
    name: 'is told once that its streams are still those of an earlier cell, which stay',
    async run(context) {
      const harness = await context.newHarness()
      await harness.runCell('import io, sys\nsys.stdout = io.StringIO()\nprint("kept")')
      const hint =
        '[hint] sys.stdout is still the StringIO of earlier code, and only what that passes on is shown. ' +
        '`sys.stdout = sys.__stdout__` undoes it.\n'
      assert.equal((await harness.runCell('print("kept, too")')).output, hint)
      assert.equal((await harness.runCell('print("and this")')).output, '')
      const undo = 'text = sys.stdout.getvalue()\nsys.stdout = sys.__stdout__\nprint(text)'
      assert.equal((await harness.runCell(undo)).output, 'kept\nkept, too\nand this\n\n')
      assert.equal((await harness.runCell('print("shown")')).output, 'shown\n')
    },
  },
  {
    name: 'can print after a cell that closes or redirects the descriptors',
    async run(context) {
      const harness = await context.newHarness()
      await harness.runCell(
        'import os, sys\nos.close(0)\nos.close(1)\nos.dup2(os.open(os.devnull, os.O_WRONLY), 2)\nprint("lost")',
      )
      const print = 'print("out")\nos.write(2, b"error\\n")\nprint(sys.stdin.read() == "")'
      const restored = (number: number) =>
        `[hint] descriptor ${number} was closed or redirected by earlier code, and is restored.\n`
      assert.equal((await harness.runCell(print)).output, `out\nerror\nTrue\n${restored(1)}${restored(2)}`)
      assert.equal((await harness.runCell(print)).output, 'out\nerror\nTrue\n')
    },
  },
  {
    name: 'reads the end of file from standard input after exit()',
    async run(context) {
      const harness = await context.newHarness()
      expectResult((await harness.runCell('exit()')).finalResult, 'completed')
      const source = 'try: input("name? ")\nexcept EOFError as error: print(error)'
      assert.equal((await harness.runCell(source)).output, 'name? EOF when reading a line\n')
    },
  },
  {
    name: 'may trace its code with functions that raise',
    async run(context) {
      const harness = await context.newHarness()
      for (const set of ['settrace', 'setprofile']) {
        await harness.runCell(`import sys\nsys.${set}(lambda *_: 1 / 0)`)
        const { output } = await harness.runCell('def f(): return 1\nprint(f(), sys.gettrace(), sys.getprofile())')
        assert.equal(output, '1 None None\n')
      }
    },
  },
  {
    name: 'can be stopped after a cell that ignores interrupts',
    requires: 'supportsProcesses',
    async run(context) {
      const harness = await context.newHarness({ cellSeconds: 1 })
      await harness.runCell(
        'import signal\nsignal.signal(signal.SIGINT, signal.SIG_IGN)\nsignal.signal(signal.SIGALRM, signal.SIG_IGN)\n' +
          'signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGALRM})\nkept = 1',
      )
      expectError((await harness.runCell('while True: pass')).finalResult, 'the code was stopped')
      assert.equal((await harness.runCell('print(kept)')).output, '1\n')
    },
  },
]
