import assert from 'node:assert/strict'
import { type SandboxFile, sandboxFiles } from '../../sandbox-files.js'
import type { CaseDefinition } from '../conformance-context.js'

const text = (path: string, content: string, isExecutable = false): SandboxFile => ({
  path,
  content: Buffer.from(content),
  isExecutable,
})

const files = sandboxFiles([
  text('greet/scripts/greet.py', 'import sys\nprint("hello", sys.argv[1:], __file__)\n', true),
  text('greet/lib/names.py', 'NAME = "Ada"\n'),
])

/** Scripts and modules in the files of a sandbox. */
export const fileCases: readonly CaseDefinition[] = [
  {
    name: 'runs a script of the files, and imports a module of them',
    requires: 'supportsFiles',
    async run(context) {
      const harness = await context.newHarness({}, undefined, files)
      const { output } = await harness.runCell(
        [
          'import runpy, sys',
          'sys.argv = ["greet.py", "you"]',
          '_ = runpy.run_path("/skills/greet/scripts/greet.py", run_name="__main__")',
          'sys.path.insert(0, "/skills/greet/lib")',
          'import names',
          'print(names.NAME)',
        ].join('\n'),
      )
      assert.equal(output, "hello ['you'] /skills/greet/scripts/greet.py\nAda\n")
    },
  },
  {
    name: 'runs a script of the files in a process of its own',
    requires: ['supportsFiles', 'supportsProcesses'],
    async run(context) {
      const harness = await context.newHarness({}, undefined, files)
      const { output } = await harness.runCell(
        'import subprocess\nr = subprocess.run(["python3", "/skills/greet/scripts/greet.py", "you"], capture_output=True, text=True)\n' +
          'print(r.returncode, r.stdout, r.stderr)',
      )
      assert.match(output, /^0 hello \['you'\]/)
    },
  },
]
