import { execFile } from 'node:child_process'
import { appendFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { ptcScript, TestProject } from '../../support/cli/ptc.js'
import { idOf, textOf } from '../../support/mcp/mcp-host.js'
import { pythonPackages } from '../../support/python/python-environment.js'
import { sharedServer, uniqueName } from '../../support/temporal/shared-server.js'

const fileIn = (name: string) => fileURLToPath(new URL(`../../support/mcp/python-client/${name}`, import.meta.url))
const packages = await pythonPackages(fileIn('requirements.txt'), 'the MCP client for Python')

const configuration = `
import { appendFile, readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { defineConfig, defineTool } from 'durable-ptc'
import { z } from 'zod'

const add = defineTool({
  name: 'add', description: 'Adds two numbers.', effect: 'read', allowedCallers: ['direct', 'code_execution'],
  input: z.object({ a: z.number(), b: z.number() }), output: z.object({ sum: z.number() }),
  run: ({ a, b }) => { console.log('a line that is not of the protocol'); return { sum: a + b } },
})
const pay = defineTool({
  name: 'pay', description: 'Pays.', effect: 'once', approval: 'always',
  input: z.object({ euros: z.number() }), output: z.string(),
  run: async ({ euros }) => { await appendFile('ledger', 'paid ' + euros + '\\n'); return 'paid ' + euros },
})
const waitForFile = defineTool({
  name: 'wait_for_file', description: 'Waits for a file.', effect: 'read', timeout: '2m',
  input: z.object({ name: z.string() }), output: z.string(),
  run: async ({ name }, { signal }) => {
    await appendFile('ledger', 'waiting\\n')
    for (;;) {
      const content = await readFile(name, 'utf8').catch(() => '')
      if (content !== '') return content
      await delay(50, undefined, { signal })
    }
  },
})
export default defineConfig({
  tools: [add, pay, waitForFile], sandbox: { backend: 'wasm' }, taskQueue: process.env.TEST_QUEUE,
})
`

async function createProject(): Promise<TestProject> {
  const variables = { TEMPORAL_ADDRESS: sharedServer().address, TEST_QUEUE: uniqueName('cli-mcp') }
  const project = await TestProject.create({ 'ptc.config.ts': configuration }, variables)
  await project.start('worker').waitForOutput(/worker ready/)
  return project
}

/** Starts `ptc mcp` as a host does, and connects. */
async function connect(project: TestProject, mode: 'auto' | 'legacy'): Promise<{ client: Client; pid: number }> {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [ptcScript, 'mcp'],
    cwd: project.folder,
    env: project.environment,
    stderr: 'ignore',
  })
  const client = new Client({ name: 'test', version: '1' }, { versionNegotiation: { mode } })
  await client.connect(transport)
  onTestFinished(() => client.close())
  return { client, pid: transport.pid ?? 0 }
}

let project: TestProject

beforeAll(async () => {
  project = await createProject()
})

afterAll(async () => {
  await project.run('sessions', 'close-all')
  await project[Symbol.asyncDispose]()
})

describe('ptc mcp', () => {
  it.each(['auto', 'legacy'] as const)(
    'ptc mcp serves code and tools to the official client in TypeScript, mode %s, although a tool prints to stdout',
    async (mode) => {
      const { client } = await connect(project, mode)
      const session = uniqueName('s').slice(0, 20)
      const code = 'x = (await add(a=40, b=2))["sum"]\nprint(x)'
      const executed = await client.callTool({ name: 'execute_code', arguments: { code, session } })
      expect(textOf(executed)).toMatch(/^42\n/)
      const sum = await client.callTool({ name: 'add', arguments: { a: 1, b: 2 } })
      expect(sum.structuredContent).toEqual({ sum: 3 })
      await expect.poll(async () => (await project.run('list', '--json')).stdout).toContain('"type": "call"')
    },
  )

  it('ptc mcp can be killed: the code continues, and another server returns its result', async () => {
    const first = await connect(project, 'legacy')
    const session = uniqueName('s').slice(0, 20)
    const code = `print(await wait_for_file(name="${session}"))`
    const started = await first.client.callTool({ name: 'execute_code', arguments: { code, session, wait_seconds: 0 } })
    const id = idOf(started)
    await expect.poll(() => readFile(join(project.folder, 'ledger'), 'utf8').catch(() => '')).toContain('waiting')
    process.kill(first.pid, 'SIGKILL')
    await appendFile(join(project.folder, session), 'the content')
    const second = await connect(project, 'auto')
    const result = await second.client.callTool({ name: 'wait_for_result', arguments: { id } })
    expect(textOf(result)).toMatch(/^the content\n/)
    const waits = (await readFile(join(project.folder, 'ledger'), 'utf8')).match(/waiting/g)
    expect(waits).toHaveLength(1)
  })

  it('ptc mcp explains that it needs a configuration', async () => {
    await using empty = await TestProject.create({}, { TEMPORAL_ADDRESS: sharedServer().address })
    const { code, stdout, stderr } = await empty.run('mcp')
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain('an MCP server needs a configuration with tools')
  })

  it.skipIf(packages === undefined).each(['auto', 'legacy'])(
    'ptc mcp serves the official client for Python, mode %s, whose person approves a call',
    async (mode) => {
      const session = uniqueName('s').slice(0, 20)
      const { stdout } = await promisify(execFile)(
        'python3',
        [fileIn('client.py'), mode, session, process.execPath, ptcScript, 'mcp', '--config', 'ptc.config.ts'],
        { cwd: project.folder, env: { ...project.environment, PYTHONPATH: packages }, timeout: 90_000 },
      )
      expect(JSON.parse(stdout)).toMatchObject({
        version: mode === 'auto' ? '2026-07-28' : '2025-11-25',
        output: expect.stringMatching(/^3\npaid 5\n/) as string,
        sum: { sum: 42 },
      })
    },
  )
})
