import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CaseDefinition, Scene } from './scene.js'

/** In the environment of the worker while the suite runs. */
export const plantedSecret = { name: 'PTC_CONFORMANCE_SECRET', value: 'planted-5f1c' } as const

/** Runs code that may fail in any way but must say nothing of the secret; its output. */
async function tryTo(scene: Scene, lines: readonly string[]): Promise<string> {
  const body = lines.map((line) => `    ${line}`).join('\n')
  const source = `try:\n${body}\nexcept BaseException as e:\n    print("refused:", type(e).__name__)`
  const { output } = await (await scene.notebook()).run(source)
  assert.ok(!output.includes(plantedSecret.value), output)
  return output
}

/** What code must not reach. No proof of a wall: an attacker has more ideas than a suite. */
export const wallCases: readonly CaseDefinition[] = [
  {
    name: 'hides the environment of the worker',
    async run(scene) {
      const output = await tryTo(scene, ['import os', 'print(sorted(os.environ), os.environ)'])
      assert.ok(!output.includes(plantedSecret.name), output)
    },
  },
  {
    name: 'hides the files of the host',
    needs: 'isBoundary',
    async run(scene) {
      const folder = await mkdtemp(join(tmpdir(), 'ptc-conformance-'))
      try {
        const file = join(folder, 'secret')
        await writeFile(file, plantedSecret.value)
        const output = await tryTo(scene, [`print(open(${JSON.stringify(file)}).read())`])
        assert.match(output, /^refused: \w+\n$/)
      } finally {
        await rm(folder, { recursive: true, force: true })
      }
    },
  },
  {
    name: 'has no way to the network of the host',
    needs: 'isBoundary',
    async run(scene) {
      let connections = 0
      const server = createServer((socket) => {
        connections += 1
        socket.destroy()
      })
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      try {
        const { port } = server.address() as AddressInfo
        const output = await tryTo(scene, [
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
    name: 'gives sandboxes a /tmp each',
    needs: 'isBoundary',
    async run(scene) {
      await (await scene.notebook()).run('open("/tmp/mine", "w").write("x")')
      const { output } = await (await scene.fresh()).run('import os\nprint(os.path.exists("/tmp/mine"))')
      assert.equal(output, 'False\n')
    },
  },
  {
    name: 'does not let a cell have four times its memory, and its neighbour keeps its own',
    needs: 'isBoundary',
    async run(scene) {
      const greedy = await scene.fresh()
      const { final } = await greedy.run(`x = bytearray(${4 * greedy.limits.memoryBytes})\nprint("had it")`)
      assert.notEqual(final.type, 'completed')
      assert.equal((await (await scene.notebook()).run('print("fine")')).output, 'fine\n')
    },
  },
  {
    name: 'bounds /tmp',
    needs: 'isBoundary',
    async run(scene) {
      const notebook = await scene.notebook()
      const { output } = await notebook.run(
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
      assert.ok(Number(output) <= notebook.limits.tmpBytes, `${output} bytes written`)
    },
  },
]
