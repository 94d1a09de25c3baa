import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { pollOptions } from '../../../support/poll-options.js'
import { sharedServer, uniqueName } from '../../../support/temporal/shared-server.js'
import { TestProject } from '../../../support/cli/ptc.js'

const taskQueue = uniqueName('long')

const configuration = `
import { defineConfig, defineTool } from 'durable-ptc'
import { z } from 'zod'

const count = defineTool({
  name: 'count', description: 'Gives the number back.', effect: 'read',
  input: z.object({ n: z.number() }), output: z.number(), run: async ({ n }) => n,
})
const book = defineTool({
  name: 'book', description: 'A long text.', effect: 'read',
  input: z.object({ preface: z.string() }), output: z.string(), run: async () => 'it begins ' + 'word '.repeat(50_000),
})
export default defineConfig({
  tools: [count, book], sandbox: { backend: 'wasm' }, taskQueue: '${taskQueue}',
  [Symbol.for('durable-ptc.test-settings')]: { limits: { historyEvents: 100 } }, values: { store: { kind: 'local', directory: 'kept' } },
})
`
const calls = 60
const program = `for n in range(${calls}):
    await count(n=n)
print("counted")
`

let project: TestProject

beforeAll(async () => {
  project = await TestProject.create({ 'ptc.config.ts': configuration }, { TEMPORAL_ADDRESS: sharedServer().address })
  await project.start('worker').waitForOutput(/worker ready/)
})

afterAll(() => project[Symbol.asyncDispose]())

it('a run that continues as new is one run to every command', async () => {
  const id = uniqueName('long')
  const executing = project.start('exec', '-', '--id', id, '--json').input(program)
  await executing.waitForOutput(/run long-/)
  const watched = await project.run('watch', id, '--json')
  expect(watched.code).toBe(0)
  const report = JSON.parse(watched.stdout) as { readonly runId: string }
  const { runId } = report
  expect(report).toMatchObject({ workflowId: id, status: 'ok', answer: 'counted\n', toolCalls: calls })
  expect(JSON.parse((await executing.result).stdout)).toEqual(report)
  expect(watched.stderr.match(/cell 1\b.*60 calls/g)).toHaveLength(1)

  const shown = await project.run('show', id, '--full')
  const drawn = shown.stdout.match(/count\(n=\d+\)/g) ?? []
  expect(drawn).toEqual(Array.from({ length: calls }, (_, n) => `count(n=${n})`))
  expect(shown.stdout).toContain('for n in range(60):')

  const tree = JSON.parse((await project.run('show', id, '--json')).stdout) as {
    readonly runIds: readonly string[]
  }
  expect(tree.runIds.length).toBeGreaterThan(2)
  expect(tree).toMatchObject({ runId, status: 'completed' })
  const last = await project.run('show', id, '--run', tree.runIds.at(-1) ?? '', '--json')
  expect(JSON.parse(last.stdout)).toEqual(tree)

  const listed = await listedAs('completed')
  expect(listed).toMatchObject([{ workflowId: id, runId: tree.runIds.at(-1) }])
})

it('values that are not in the history are shown from the configured store', async () => {
  const source = `${'# a comment\n'.repeat(500)}print((await book(preface="by me " * 1000))[:20], "line\\n" * 2000)\n`
  const id = uniqueName('large')
  const executed = await project.start('exec', '-', '--id', id).input(source).result
  expect(executed.code).toBe(0)
  const whole = await project.run('show', id, '--full')
  expect(whole.stdout).toContain('preface="by me by me')
  expect(whole.stdout.match(/# a comment/g)).toHaveLength(500)
  expect(whole.stdout.match(/^.*word word word word.*$/gm)?.length).toBeGreaterThan(5)
  expect(whole.stdout).not.toContain('it begins:')

  // A command that only reads uses the cached settings of the store and does not load the configuration.
  await project.write('ptc.config.ts', 'export default { tools: 5 }')
  expect((await project.run('show', id, '--full')).stdout).not.toContain('it begins:')
  await project.write('ptc.config.ts', configuration)
  const elsewhere = "export default { tools: [], values: { store: { kind: 'local', directory: 'elsewhere' } } }"
  await project.write('elsewhere.mjs', elsewhere)
  const without = await project.run('show', id, '--config', 'elsewhere.mjs')
  expect(without.code).toBe(0)
  expect(without.stdout).toMatch(/book\(\[value [0-9a-f]{12}, 6\.\dk bytes\] \{"preface":"by me/)
  expect(without.stdout).toMatch(/244\.\d KB · [0-9a-f]{12}/)
  expect(without.stdout).toContain('→ "it begins word')
})

/** Visibility lags for each execution separately: one that continued as new may be listed as a run for a while. */
async function listedAs(status: string): Promise<unknown> {
  return vi.waitUntil(async () => {
    const { stdout } = await project.run('list', '--json')
    const runs = JSON.parse(stdout) as readonly { readonly status: string }[]
    return runs.length > 0 && runs.every((run) => run.status === status) && runs
  }, pollOptions)
}
