import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type CaseDefinition, type ConformanceContext, plantedSecret } from '../conformance-context.js'

/** Runs code that may fail but must not reveal the secret. Returns its output. */
async function runGuarded(context: ConformanceContext, lines: readonly string[]): Promise<string> {
  const body = lines.map((line) => `    ${line}`).join('\n')
  const source = `try:\n${body}\nexcept BaseException as e:\n    print("refused:", type(e).__name__)`
  const { output } = await (await context.harness()).runCell(source)
  assert.ok(!output.includes(plantedSecret.value), output)
  return output
}

/** Resources that code must not reach. These cases prove no isolation: an attacker has more ideas than a suite. */
export const isolationCases: readonly CaseDefinition[] = [
  {
    name: 'does not expose the environment of the worker',
    async run(context) {
      const output = await runGuarded(context, ['import os', 'print(sorted(os.environ), os.environ)'])
      assert.ok(!output.includes(plantedSecret.name), output)
    },
  },
  {
    name: 'does not expose the files of the host',
    requires: 'providesIsolation',
    async run(context) {
      const folder = await mkdtemp(join(tmpdir(), 'ptc-conformance-'))
      try {
        const file = join(folder, 'secret')
        await writeFile(file, plantedSecret.value)
        const output = await runGuarded(context, [`print(open(${JSON.stringify(file)}).read())`])
        assert.match(output, /^refused: \w+\n$/)
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    },
  },
  {
    name: 'has no access to the network of the host',
    requires: 'providesIsolation',
    async run(context) {
      let connections = 0
      const server = createServer((socket) => {
        connections += 1
        socket.destroy()
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      try {
        const { port } = server.address() as AddressInfo
        const output = await runGuarded(context, [
          'import socket',
          `socket.create_connection(("127.0.0.1", ${port}), timeout=5)`,
          'print("connected")',
        ])
        assert.doesNotMatch(output, /connected/)
        assert.equal(connections, 0)
      } finally {
        server.close()
      }
    },
  },
  {
    name: 'has a /tmp of its own',
    requires: 'providesIsolation',
    async run(context) {
      await (await context.harness()).runCell('open("/tmp/mine", "w").write("x")')
      const { output } = await (await context.newHarness()).runCell('import os\nprint(os.path.exists("/tmp/mine"))')
      assert.equal(output, 'False\n')
    },
  },
  {
    name: 'denies a cell four times its memory limit, and does not affect another sandbox',
    requires: 'providesIsolation',
    async run(context) {
      const greedy = await context.newHarness()
      const { finalResult } = await greedy.runCell(`x = bytearray(${4 * greedy.limits.memoryBytes})\nprint("had it")`)
      assert.notEqual(finalResult.type, 'completed')
      assert.equal((await (await context.harness()).runCell('print("fine")')).output, 'fine\n')
    },
  },
  {
    name: 'limits the size of /tmp',
    requires: 'providesIsolation',
    async run(context) {
      const harness = await context.harness()
      const { output } = await harness.runCell(
        [
          'import os',
          'written = 0',
          'try:',
          '    for i in range(64):',
          '        with open(f"/tmp/{i}", "wb") as f: written += f.write(b"x" * 4_000_000)',
          'except OSError: pass',
          'for name in os.listdir("/tmp"): os.remove(f"/tmp/{name}")',
          'print(written)',
        ].join('\n'),
      )
      assert.ok(Number(output) <= harness.limits.tmpBytes, `${output} bytes written`)
    },
  },
]
