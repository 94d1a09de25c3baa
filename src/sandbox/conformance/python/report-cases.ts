import assert from 'node:assert/strict'
import { capturedCharacters } from '../../../common/run/limits.js'
import { splitText } from '../../../common/text/text-ranges.js'
import type { StepResult } from '../../../common/session/steps.js'
import type { CaseDefinition } from '../conformance-context.js'
import { expectError, expectResult } from '../expectations.js'

/** Returns what the step printed to each stream. */
function streamsOf(result: StepResult): { readonly stdout: string; readonly stderr: string } {
  assert.ok('output' in result, result.type)
  const { outside: stdout, inside: stderr } = splitText(result.output, result.stderr ?? [])
  return { stdout, stderr }
}

/** A case whose cell prints this text, with these parts on stderr. */
function printsTo(
  name: string,
  source: string,
  expected: { readonly output: string; readonly stderr: string },
  options: Pick<CaseDefinition, 'requires'> = {},
): CaseDefinition {
  return {
    name,
    ...options,
    async run(context) {
      const { finalResult } = await (await context.newHarness()).runCell(`import os, sys\n${source}`)
      assert.equal(expectResult(finalResult, 'completed').output, expected.output)
      assert.equal(streamsOf(finalResult).stderr, expected.stderr)
    },
  }
}

/** What the result of a step reports of its cell: the streams of its output, the exit code, and what it used. */
export const reportCases: readonly CaseDefinition[] = [
  printsTo(
    'prints to both streams in order, and each part keeps its stream',
    'print("a")\nprint("b", file=sys.stderr)\nprint("c")\nos.write(2, b"d\\n")\nos.write(1, b"e\\n")',
    { output: 'a\nb\nc\nd\ne\n', stderr: 'b\nd\n' },
  ),
  printsTo(
    'prints characters of any length to both streams',
    'for _ in "12": print("é🎉", end=""); print("🎉ü", end="", file=sys.stderr)',
    { output: 'é🎉🎉üé🎉🎉ü', stderr: '🎉ü🎉ü' },
  ),
  printsTo('prints a character in two parts', 'for byte in "🎉".encode(): os.write(2, bytes([byte]))\nprint()', {
    output: '🎉\n',
    stderr: '🎉',
  }),
  printsTo(
    'has children that print to both streams',
    'for command in ["echo 1; echo 2 >&2", "echo 3 >&2", "echo 4", "echo 5 2>&1 >&2"]: os.system(command); print()',
    { output: '1\n2\n\n3\n\n4\n\n5\n\n', stderr: '2\n3\n' },
    { requires: 'supportsProcesses' },
  ),
  printsTo(
    'has children that print the same text in each cell',
    'import subprocess\nfor _ in "123": subprocess.run(["sh", "-c", "echo x >&2"])',
    { output: 'x\nx\nx\n', stderr: 'x\nx\nx\n' },
    { requires: 'supportsProcesses' },
  ),
  printsTo('may point stderr to stdout', 'os.dup2(1, 2)\nprint("a")\nos.write(2, b"b\\n")', {
    output: 'a\nb\n',
    stderr: '',
  }),
  {
    name: 'reports the streams of each step, and hints as stderr',
    async run(context) {
      const harness = await context.newHarness()
      const source = 'import sys\nprint("a", file=sys.stderr)\nawait get(1)\nprint("b")\nasyncio.create_task(get(2))'
      const { stepResults } = await harness.runCell(source)
      const [first, last] = stepResults.map(streamsOf)
      assert.deepEqual(first, { stdout: '', stderr: 'a\n' })
      assert.equal(last?.stdout, 'b\n')
      assert.match(last.stderr, /^\[hint\] /)
    },
  },
  {
    name: 'keeps the head and the tail of a megabyte, with the parts that are stderr',
    async run(context) {
      const harness = await context.newHarness()
      const source =
        'import sys\nprint("start", file=sys.stderr)\nprint("é" * 1_100_000)\nprint("end", file=sys.stderr)\nprint("out")'
      const { finalResult } = await harness.runCell(source)
      const { output } = expectResult(finalResult, 'completed')
      assert.ok(output.length > 0.99 * capturedCharacters && output.length <= capturedCharacters, `${output.length}`)
      assert.deepEqual(streamsOf(finalResult).stderr, 'start\nend\n')
      const wide = await harness.runCell('print("🎉" * 1_000_000)\nprint("end", file=sys.stderr)')
      const { length } = expectResult(wide.finalResult, 'completed').output
      assert.ok(length > 0.9 * capturedCharacters && length <= capturedCharacters, `${length} units`)
      assert.equal(streamsOf(wide.finalResult).stderr, 'end\n')
    },
  },
  {
    name: 'keeps the order of output when the streams alternate without end',
    async run(context) {
      const harness = await context.newHarness()
      const source = 'import sys\nfor n in range(30_000):\n  print(n)\n  print(-n, file=sys.stderr)'
      const { finalResult } = await harness.runCell(source)
      const { output, stderr = [] } = expectResult(finalResult, 'completed')
      assert.ok(output.endsWith('29998\n-29998\n29999\n-29999\n'))
      assert.equal(stderr.length, 250)
      assert.match(streamsOf(finalResult).stderr, /^(-\d+\n){250}$/)
    },
  },
  {
    name: 'reports the exit code of sys.exit',
    async run(context) {
      const harness = await context.newHarness()
      const codes = []
      const texts = ['3', '300', '-1', '"no"', 'None', '0', 'True', '2.5', '10 ** 5000', 'Code.BAD']
      await harness.runCell('import enum, sys\nclass Code(enum.IntEnum): BAD = 7')
      for (const text of texts) {
        const { finalResult } = await harness.runCell(`sys.exit(${text})`)
        codes.push('exitCode' in finalResult ? finalResult.exitCode : finalResult.type)
      }
      const failed = 'failed'
      assert.deepEqual(codes, [3, 44, 255, failed, 'completed', 'completed', 1, failed, failed, 7])
    },
  },
  {
    name: 'can not end the session by an exit code with methods of its own',
    async run(context) {
      const harness = await context.newHarness()
      const source =
        'class Bad(int):\n  def __str__(self, *_): 1 / 0\n  __and__ = __eq__ = __index__ = __repr__ = __format__ = __str__\nraise SystemExit(Bad(3))'
      expectError((await harness.runCell(source)).finalResult, 'SystemExit (ZeroDivisionError)')
      assert.equal((await harness.runCell('print(1)')).output, '1\n')
    },
  },
  {
    name: 'reports for how long its code ran, without waiting',
    async run(context) {
      const harness = await context.newHarness()
      const source =
        'import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass\nawait get(1)\nawait asyncio.sleep(3600)'
      const { finalResult, stepResults } = await harness.runCell(source)
      for (const result of stepResults.slice(0, -1)) assert.ok(!('usage' in result))
      const { usage } = expectResult(finalResult, 'completed')
      assert.ok(usage !== undefined && usage.runMs >= 250 && usage.runMs < 60_000, JSON.stringify(usage))
      const next = expectResult((await harness.runCell('1')).finalResult, 'completed').usage
      assert.ok(next !== undefined && next.runMs < 250, JSON.stringify(next))
    },
  },
  {
    name: 'reports its CPU time with that of its children, and the peak of its own memory',
    requires: 'supportsProcesses',
    async run(context) {
      const harness = await context.newHarness()
      const busy = '"import time\\nwhile time.process_time() < 0.3: pass"'
      const child = `import subprocess, sys\nsubprocess.run([sys.executable, "-c", ${busy}])`
      const { cpuMs = 0 } = expectResult((await harness.runCell(child)).finalResult, 'completed').usage ?? {}
      assert.ok(cpuMs >= 250 && cpuMs < 60_000, `${cpuMs} ms`)
      const peaks = []
      for (const source of ['1', 'data = bytearray(60_000_000)\ndel data', '1']) {
        const { usage } = expectResult((await harness.runCell(source)).finalResult, 'completed')
        peaks.push(usage?.peakMemoryBytes)
      }
      const [before = 0, peak = 0, after = 0] = peaks
      if (peaks.every((each) => each === undefined)) return // the kernel does not report it
      assert.ok(peak - before > 50_000_000 && peak - after > 50_000_000, JSON.stringify(peaks))
    },
  },
  {
    name: 'reports what a cell used that reached its limit',
    requires: 'supportsProcesses',
    async run(context) {
      const harness = await context.newHarness({ cellSeconds: 1 })
      const { usage } = expectResult((await harness.runCell('while True: pass')).finalResult, 'failed')
      assert.ok(usage !== undefined && usage.runMs >= 900, JSON.stringify(usage))
    },
  },
]
