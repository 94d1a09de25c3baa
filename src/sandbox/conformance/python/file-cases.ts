import assert from 'node:assert/strict'
import { type SandboxFile, sandboxFiles } from '../../sandbox-files.js'
import type { CaseDefinition } from '../conformance-context.js'

const text = (path: string, content: string, isExecutable = false): SandboxFile => ({
  path,
  content: Buffer.from(content),
  isExecutable,
})

const binary = Buffer.from(Array.from({ length: 70_000 }, (_, index) => (index * 7) % 256))

const files = sandboxFiles([
  text('greet/scripts/greet.py', 'import sys\nprint("hello", sys.argv[1:], __file__)\n', true),
  text('greet/lib/names.py', 'NAME = "Ada"\n'),
  text('greet/Ünïcode name.txt', 'zażółć\n'),
  text('greet/empty.txt', ''),
  { path: 'data/deep/er/table.bin', content: binary, isExecutable: false },
  text(`data/${'long-'.repeat(15)}/${'name-'.repeat(15)}/x.txt`, 'found'),
])

/** Lists every file with mode and digest. */
const list = `
import hashlib, os, stat
for folder, _, names in sorted(os.walk("/skills")):
  for name in sorted(names):
    path = os.path.join(folder, name)
    print(path, oct(stat.S_IMODE(os.stat(path).st_mode)), hashlib.sha256(open(path, "rb").read()).hexdigest())
`

/** Attempts to change a file or a folder. */
const changes: readonly string[] = [
  'open(target, "w").write("x")',
  'open(target, "a").write("x")',
  'open(target, "r+").write("x")',
  'os.truncate(target, 0)',
  'os.remove(target)',
  'os.chmod(target, 0o777); open(target, "w").write("x")',
  'os.chmod(os.path.dirname(target), 0o777); os.remove(target)',
  'os.rename(target, target + ".old")',
  'os.rename(target, "/tmp/moved")',
  'os.rename("/skills/greet", "/tmp/greet")',
  'os.rename("/skills", "/tmp/skills")',
  'open("/tmp/new", "w").close(); os.replace("/tmp/new", target)',
  'os.symlink("/tmp", "/skills/link")',
  'os.symlink("/tmp", "/skills/greet/link")',
  'os.mkdir("/skills/mine")',
  'open("/skills/greet/new.txt", "w")',
  'open("/skills/new.txt", "w")',
  'os.rmdir("/skills/data/deep/er")',
  'os.utime(target, (1, 1))',
  'os.unlink("/skills/greet/scripts/greet.py")',
  'm = mmap.mmap(os.open(target, os.O_RDWR), 0); m[0:1] = b"x"; m.flush()',
]

export const fileCases: readonly CaseDefinition[] = [
  {
    name: 'has the files, with their bytes and modes',
    requires: 'supportsFiles',
    async run(context) {
      const harness = await context.newHarness({}, undefined, files)
      const { output } = await harness.runCell(list)
      assert.equal(output.trim().split('\n').length, files.entries.length, output)
      assert.match(output, /\/skills\/greet\/scripts\/greet\.py 0o555 /)
      assert.match(output, /\/skills\/greet\/Ünïcode name\.txt 0o444 /)
      const { output: content } = await harness.runCell(
        'd = open("/skills/data/deep/er/table.bin", "rb").read()\nprint(len(d), d == bytes(i * 7 % 256 for i in range(len(d))))',
      )
      assert.equal(content, '70000 True\n')
    },
  },
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
  {
    name: 'refuses every change of the files',
    requires: 'supportsFiles',
    async run(context) {
      const harness = await context.newHarness({}, undefined, files)
      const { output: before } = await harness.runCell(list)
      for (const change of changes) {
        const source = `import mmap, os\ntarget = "/skills/greet/lib/names.py"\ntry:\n  ${change}\n  print("changed")\nexcept (OSError, ValueError) as e: print("refused")`
        const { output } = await harness.runCell(source)
        assert.equal(output, 'refused\n', change)
      }
      assert.equal((await harness.runCell(list)).output, before)
    },
  },
  {
    name: 'has the same files in a rebuilt sandbox, and none in another one',
    requires: 'supportsFiles',
    async run(context) {
      const first = await context.newHarness({}, undefined, files)
      const next = { ...first.session, epoch: first.session.epoch + 1 }
      const second = await context.newHarness({}, next, files)
      assert.equal((await second.runCell(list)).output, (await first.runCell(list)).output)
      const { output } = await (await context.newHarness()).runCell('import os\nprint(os.path.exists("/skills"))')
      assert.equal(output, 'False\n')
    },
  },
]
