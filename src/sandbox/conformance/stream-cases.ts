import assert from 'node:assert/strict'
import { expectAnswer } from './expectations.js'
import type { CaseDefinition } from './scene.js'

/** Standard streams of ordinary Python. */
export const streamCases: readonly CaseDefinition[] = [
  {
    name: 'prints to descriptors and to the original streams',
    async run(scene) {
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
      const notebook = await scene.notebook()
      assert.equal(
        expectAnswer((await notebook.run(source)).final, 'completed').output,
        'stdout restored\n__stdout__\n__stderr__\ndescriptor 1\ndescriptor 2\nTrue\n',
      )
    },
  },
  {
    name: 'finds the end of file on its standard input',
    async run(scene) {
      const source = `
import sys
try:
    input("name? ")
except EOFError as error:
    print(error)
print(repr(sys.stdin.read()), repr(open(0, closefd=False).read()), repr(open("/dev/stdin").read()))
with open(0) as file: print(repr(file.read()))
`
      const notebook = await scene.fresh()
      assert.equal((await notebook.run(source)).output, "name? EOF when reading a line\n'' '' ''\n''\n")
    },
  },
  {
    name: 'prints to /dev/stdout and /dev/stderr, opened for appending',
    async run(scene) {
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
      const { final, output } = await (await scene.fresh()).run(source)
      expectAnswer(final, 'completed')
      assert.equal(output, 'first\nby path\nerror by path\nown\nby path, later\nown, later\n')
    },
  },
  {
    name: 'erases what its step has printed when it opens /dev/stdout for writing, as that of a file would be',
    async run(scene) {
      const notebook = await scene.fresh()
      const source =
        'print("kept")\nawait get(1)\nprint("erased")\nopen("/dev/stdout", "w").write("by path\\n")\nprint("own")'
      const { final, output } = await notebook.run(source)
      expectAnswer(final, 'completed')
      assert.equal(output, 'kept\nby path\nown\n')
      const held =
        'file = open("/dev/stdout", "w")\nfile.write("1234")\nfile.flush()\nawait get(1)\nfile.write("5")\nfile.close()'
      assert.equal((await notebook.run(held)).output, '1234\0\0\0\u00005')
    },
  },
]
