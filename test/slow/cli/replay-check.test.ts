import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { NativeConnection, Worker } from '@temporalio/worker'
import { expect, onTestFinished, test } from 'vitest'
import { TestProject } from '../../support/cli/ptc.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { sharedServer } from '../../support/temporal/shared-server.js'

const histories = fileURLToPath(new URL('../../histories/', import.meta.url))
const incompatible = fileURLToPath(new URL('../../fixtures/incompatible-workflows.ts', import.meta.url))

async function createProject(files: Readonly<Record<string, string>> = {}): Promise<TestProject> {
  const project = await TestProject.create(files, { TEMPORAL_ADDRESS: sharedServer().address })
  onTestFinished(() => project[Symbol.asyncDispose]())
  return project
}

test('ptc replay-check replays files without a server, and exits with 1 when one does not replay', async () => {
  const recorded = readdirSync(histories, { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.json'),
  )
  const files = recorded.slice(0, 3).map((name) => join(histories, name))
  const project = await TestProject.create({}, { TEMPORAL_ADDRESS: '127.0.0.1:1' })
  onTestFinished(() => project[Symbol.asyncDispose]())
  const good = await project.run('replay-check', ...files)
  expect(good.stderr).toContain('3 of 3 histories replay')
  expect(good.code).toBe(0)

  const other = readFileSync(files[0] ?? '', 'utf8').replaceAll('"run.config"', '"run.settings"')
  await project.write('other.json', other)
  const bad = await project.run('replay-check', ...files, 'other.json', '--json')
  expect(bad.code).toBe(1)
  const results = JSON.parse(bad.stdout) as readonly { id: string; problem?: string }[]
  expect(results.map(({ id, problem }) => [id, problem === undefined])).toEqual([
    ...files.map((file) => [file, true]),
    ['other.json', false],
  ])
  expect(results.at(-1)?.problem).toMatch(/nondeterminism/i)
})

test('ptc replay-check refuses a file that is not a history', async () => {
  const project = await createProject({ 'wrong.json': '{"events":[]}' })
  const { code, stderr } = await project.run('replay-check', 'wrong.json')
  expect(stderr).toContain('wrong.json is not a history of a workflow')
  expect(code).toBe(2)
})

test('ptc replay-check replays runs of the server, and finds one that other code began', async () => {
  const env = await TestEnvironment.start({ backend: 'wasm' })
  const source = `text = '${'x'.repeat(300_000)}'\nprint(len(text))`
  const good = await env.startProgram(source, { limits: { sourceBytes: 1_000_000 } })
  await good.result()
  const { taskQueue } = env
  const store = JSON.stringify({ kind: 'local', directory: env.valuesDirectory })
  const project = await createProject({
    'ptc.config.ts': `export default { tools: [], taskQueue: '${taskQueue}', values: { store: ${store} } }`,
  })
  const check = (...options: string[]) => project.run('replay-check', '--config', 'ptc.config.ts', ...options)
  // Visibility lags behind.
  await expect.poll(async () => (await check()).stderr, { interval: 500 }).toContain('1 of 1 histories replay')

  await env.workers.stop()
  const connection = await NativeConnection.connect({ address: sharedServer().address })
  onTestFinished(() => connection.close())
  const { namespace } = sharedServer()
  const worker = await Worker.create({ connection, namespace, taskQueue, workflowsPath: incompatible })
  const bad = await env.startProgram('10')
  await worker.runUntil(expect.poll(async () => (await bad.describe()).historyLength).toBeGreaterThan(4))
  await expect.poll(async () => (await check()).stderr, { interval: 500 }).toContain('1 of 2 histories replay')
  const { code, stdout } = await check('-n', '10')
  expect(code).toBe(1)
  expect(stdout).toMatch(new RegExp(`${bad.workflowId} \\S+ +\\d+ +.*nondeterminism`, 'i'))
  expect(stdout).toMatch(new RegExp(`${good.workflowId} \\S+ +\\d+ +replays`))

  const nothing = await check('-q', "WorkflowId = 'nobody'")
  expect(nothing).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('no history to replay') })
  const invalid = await check('-q', 'not a filter')
  expect(invalid.code).toBe(2)
  expect(invalid.stderr).toMatch(/^ptc: /m)
})
