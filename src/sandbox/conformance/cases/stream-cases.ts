import assert from 'node:assert/strict'
import { expectResult } from '../expectations.js'
import type { CaseDefinition } from '../conformance-context.js'

/** Standard streams of ordinary Python. */
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
  {
    name: 'reads the end of file from standard input',
    async run(context) {
      const source = `
import sys
try:
    input("name? ")
except EOFError as error:
    print(error)
print(repr(sys.stdin.read()), repr(open(0, closefd=False).read()), repr(open("/dev/stdin").read()))
with open(0) as file: print(repr(file.read()))
`
      const harness = await context.newHarness()
      assert.equal((await harness.runCell(source)).output, "name? EOF when reading a line\n'' '' ''\n''\n")
    },
  },
  {
    name: 'may append to /dev/stdout and /dev/stderr',
    async run(context) {
      const source = `
print("first")
out, error = open("/dev/stdout", "a"), open("/dev/stderr", "a")
print("by path", file=out, flush=True)
print("error by path", file=error, flush=True)
print("own")
await get(1)
print("by path, later", file=out, flush=True)
print("own, later")
out.close(), error.close()
`
      const { finalResult, output } = await (await context.newHarness()).runCell(source)
      expectResult(finalResult, 'completed')
      assert.equal(output, 'first\nby path\nerror by path\nown\nby path, later\nown, later\n')
    },
  },
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
]
