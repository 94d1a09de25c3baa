import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { TestProject, type PtcProcess } from '../../support/cli/ptc.js'
import { connectClient, sharedServer, uniqueName } from '../../support/temporal/shared-server.js'

/** A value for each source, and a value that `flaky` gets at its second attempt. */
const values = {
  fromVariable: 'marker-of-the-variable',
  fromFile: 'marker-of-the-file',
  fromCommand: 'marker-of-the-command',
  fromFunction: 'marker-of-the-function',
}

const configuration = `
import { defineConfig, defineTool } from 'durable-ptc'
import { z } from 'zod'

const names = ['fromVariable', 'fromFile', 'fromCommand', 'fromFunction']
const common = { description: 'Of a test.', input: z.object({}), effect: 'read', retry: { initialInterval: '10ms' } }
const leak = defineTool({
  ...common, name: 'leak', output: z.record(z.string(), z.string()), credentials: names,
  run: (_, { credential, log, heartbeat }) => {
    const read = Object.fromEntries(names.map((name) => [name, credential(name)]))
    heartbeat(read)
    log.info('leaked', read)
    return { ...read, lengths: names.map((name) => credential(name).length).join(' ') }
  },
})
const fail = defineTool({
  ...common, name: 'fail', output: z.null(), credentials: names, retry: { attempts: 2, initialInterval: '10ms' },
  run: (_, { credential }) => { throw new Error(names.map((name) => credential(name)).join(' ')) },
})
let asked = 0
const flaky = defineTool({ ...common, name: 'flaky', output: z.string(), credentials: ['flaky'], run: () => 'done' })
const never = defineTool({
  ...common, name: 'never', effect: 'once', retry: undefined, output: z.string(), credentials: ['missing'],
  run: () => 'done',
})
export default defineConfig({
  tools: [leak, fail, flaky, never],
  credentials: {
    fromVariable: { environment: 'TEST_CREDENTIAL' },
    fromFile: { file: 'token' },
    fromCommand: { command: [process.execPath, '-e', 'console.log("${values.fromCommand}")'] },
    fromFunction: ({ context }) => 'marker-of-' + context.of,
    flaky: () => { if (asked++ === 0) throw new Error('not yet: marker-of-the-source'); return 'long enough' },
    missing: { environment: 'TEST_NOT_SET' },
  },
  sandbox: { backend: 'wasm' },
  audit: { file: 'audit.jsonl', includesCode: true },
  taskQueue: '${uniqueName('credentials')}',
})
`

let project: TestProject
let worker: PtcProcess

beforeAll(async () => {
  const { address } = sharedServer()
  const environment = { TEMPORAL_ADDRESS: address, TEST_CREDENTIAL: values.fromVariable }
  project = await TestProject.create({ 'ptc.config.ts': configuration, token: `${values.fromFile}\n` }, environment)
  worker = project.start('worker', '--log-level', 'DEBUG')
  await worker.waitForOutput(/worker ready/)
})

afterAll(() => project[Symbol.asyncDispose]())

test('the values of credentials reach only the tool', async () => {
  const id = uniqueName('leak')
  const program = `
print(await leak())
try: await fail()
except ToolError as error: print(error)
`
  const context = JSON.stringify({ of: 'the-function' })
  const exec = await project.start('exec', '-', '--id', id, '--context', context).input(program).result
  expect(exec).toMatchObject({ code: 0 })
  const lengths = Object.values(values).map(({ length }) => length)
  expect(exec.stdout).toContain(lengths.join(' '))
  for (const name of Object.keys(values)) expect(exec.stdout).toContain(`[credential ${name}]`)

  const client = await connectClient()
  const history = await client.workflow.getHandle(id).fetchHistory()
  await client.connection.close()
  const json = JSON.parse(historyToJSON(history)) as unknown
  const shown = await project.run('show', id, '--json')
  expect(shown.code).toBe(0)
  const written = {
    history: JSON.stringify(json, (_, value: unknown) => decoded(value)),
    shown: shown.stdout,
    logged: worker.stderr,
    audited: await readFile(join(project.folder, 'audit.jsonl'), 'utf8'),
    printed: exec.stdout + exec.stderr,
  }
  expect(written.history).toContain('[credential fromVariable]')
  expect(written.logged).toContain('leaked')
  expect(written.audited).toContain('call.started')
  for (const [place, text] of Object.entries(written)) expect(text, place).not.toContain('marker-of-')
})

test('an unreadable credential is an outcome of the call, which is tried again', async () => {
  const program = `
print(await flaky())
try: await never()
except ToolError as error: print(type(error).__name__, error)
`
  const { stdout } = await project.start('exec', '-').input(program).result
  expect(stdout).toContain('done\n')
  expect(stdout).toContain(
    'ToolError credential missing is not available: the environment variable TEST_NOT_SET is not set',
  )
  expect(worker.stderr).toContain('its function threw Error')
  expect(worker.stderr).not.toContain('marker-of-the-source')
})

test('ptc doctor says which credentials can be read, without their values', async () => {
  const { stdout } = await project.run('doctor', '--json')
  const checks = JSON.parse(stdout) as readonly { readonly name: string; readonly message: string }[]
  expect(checks.find(({ name }) => name === 'Credentials')).toMatchObject({
    status: 'warning',
    message: [
      'available: fromVariable, fromFile, fromCommand',
      'not checked, because their functions run only for a call: fromFunction, flaky',
      'credential missing is not available: the environment variable TEST_NOT_SET is not set',
    ].join('\n'),
  })
  expect(stdout).not.toContain('marker-of-')
})

test('a tool whose credential has no source is refused when the worker starts', async () => {
  await project.write('other.config.ts', configuration.replace("missing: { environment: 'TEST_NOT_SET' },", ''))
  const { code, stderr } = await project.run('worker', '--config', 'other.config.ts')
  expect(code).not.toBe(0)
  expect(stderr).toContain('tool never needs credential missing, and the configuration has no source for it')
})

/** Payloads as text: JSON of a history has them in Base64. */
function decoded(value: unknown): unknown {
  return typeof value === 'string' && /^[A-Za-z0-9+/]{8,}={0,2}$/.test(value)
    ? `${value} ${Buffer.from(value, 'base64').toString()}`
    : value
}
