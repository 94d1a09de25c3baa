import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Connection } from '@temporalio/client'
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { defineConfig, defineTool, ToolError } from '../../../src/index.js'
import { createTestEnvironment, type Script, type TestEnvironment } from '../../../src/testing/index.js'
import { sharedServer } from '../../support/temporal/shared-server.js'

const calls: string[] = []
const getExpenses = defineTool({
  name: 'get_expenses',
  description: 'Travel expenses of one employee, as amounts in EUR.',
  input: z.object({ employee: z.string() }),
  output: z.array(z.number()),
  effect: 'read',
  run: ({ employee }, { idempotencyKey }) => {
    calls.push(idempotencyKey)
    if (employee === 'nobody') throw new ToolError('there is no employee nobody')
    return employee === 'ada' ? [6200, 140] : [1800]
  },
})

const program = `
for employee in ["ada", "lin"]:
    print(employee, sum(await get_expenses(employee=employee)))
`
const answer = { reply: { content: [{ type: 'text', text: 'Expenses: {{last_tool_result}}' }] } }
const script: Script = {
  conversations: [
    {
      match: { firstUserText: 'nobody' },
      turns: [
        { reply: { content: [{ type: 'tool_use', name: 'get_expenses', input: { employee: 'nobody' } }] } },
        answer,
      ],
    },
    { turns: [{ reply: { content: [{ type: 'tool_use', name: 'execute_code', input: { code: program } }] } }, answer] },
  ],
}
const config = defineConfig({
  tools: [getExpenses],
  limits: { turns: 5 },
  // These options are replaced: a test needs no model, no Docker and no bucket.
  model: { name: 'local/gpt-5.6' },
  providers: { local: { kind: 'openai', baseURL: 'http://127.0.0.1:1' } },
  sandbox: { backend: 'docker' },
  values: { store: { kind: 's3', bucket: 'production' } },
  taskQueue: 'production',
})

describe('a test of an agent', () => {
  let env: TestEnvironment
  beforeAll(async () => {
    env = await createTestEnvironment({ config, script })
  })
  afterAll(() => env.close())

  it('a test environment runs the script, the code and the tools', async () => {
    calls.length = 0
    const result = await env.runAgent('Who spent how much?')
    expect(result).toMatchObject({ status: 'answered', turns: 2, cells: 1, toolCalls: 2 })
    expect(result.answer).toBe('Expenses: ada 6340\nlin 1800')
    expect(new Set(calls).size).toBe(2)
    expect(env.api.requests).toHaveLength(2)
  })

  it('a test environment shows the model a tool that fails', async () => {
    const result = await env.runAgent({ question: 'What did nobody spend?' }, { workflowId: 'nobody' })
    expect(result.answer).toContain('there is no employee nobody')
    expect((await env.client.handle('nobody').describe()).status).toBe('completed')
  })

  it('a test environment runs a program without a model, and returns how it failed', async () => {
    const { outcome } = await env.runProgram('print(sum(await get_expenses(employee="ada")))')
    expect(outcome).toMatchObject({ status: 'ok', output: '6340\n' })
    const failed = await env.runProgram('await get_expenses(employee="nobody")')
    expect(failed.outcome).toMatchObject({ status: 'code_error', error: expect.stringContaining('no employee nobody') })
  })

  it('a test environment stores large values in its own folder', async () => {
    const source = `print(len("${'x'.repeat(300_000)}"))`
    const { outcome } = await env.runProgram({ source, limits: { sourceBytes: 400_000 } })
    expect(outcome).toMatchObject({ output: '300000\n' })
  })

  it('a test environment keeps a named session', async () => {
    await env.client.sessions.execute('notes', 'x = 41')
    const { outcome } = await env.client.sessions.execute('notes', 'print(x + 1)')
    expect(outcome).toMatchObject({ output: '42\n' })
  })
})

/** Child processes of this process. */
function children(): string[] {
  const tasks = `/proc/${process.pid}/task`
  if (!existsSync(tasks)) return []
  return readdirSync(tasks).flatMap((task) => {
    const file = `${tasks}/${task}/children`
    return existsSync(file) ? readFileSync(file, 'utf8').trim().split(' ').filter(Boolean) : []
  })
}

/** An empty temporary folder for the test, which shows the remaining files. */
function emptyTemporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'ptc-'))
  vi.stubEnv('TMPDIR', folder)
  onTestFinished(() => {
    vi.unstubAllEnvs()
    rmSync(folder, { recursive: true })
  })
  return folder
}

describe('close', () => {
  it('closing a test environment ends server, sandbox and open runs, and removes the files', async () => {
    const [folder, before] = [emptyTemporaryFolder(), children()]
    const env = await createTestEnvironment({ tools: [getExpenses] })
    const run = await env.client.startProgram({ source: 'import asyncio\nawait asyncio.sleep(600)' })
    await env.client.sessions.execute('open', 'x = 1')
    const result = expect(run.result()).rejects.toMatchObject({ code: 'RUN_CANCELLED' })
    await Promise.all([env.close(), env.close()])
    await env[Symbol.asyncDispose]()
    await result
    const connecting = Connection.connect({ address: env.temporal.address, connectTimeout: 500 })
    await expect(connecting).rejects.toThrow()
    await expect(fetch(env.api.url)).rejects.toThrow()
    await expect.poll(() => children().filter((pid) => !before.includes(pid))).toEqual([])
    expect(readdirSync(folder)).toEqual([])
  })

  it('closing a test environment leaves an existing server running, without open runs', async () => {
    const { address, namespace } = sharedServer()
    const env = await createTestEnvironment({ server: { address, namespace } })
    expect((await env.runProgram('print(6 * 7)')).outcome).toMatchObject({ output: '42\n' })
    await expect(env.runAgent('Who?')).rejects.toMatchObject({ code: 'RUN_INPUT_INVALID' })
    const { workflowId } = await env.client.startProgram({ source: 'import asyncio\nawait asyncio.sleep(600)' })
    const { taskQueue } = env.client
    const connection = await Connection.connect({ address })
    const isOpen = async () => {
      const query = `TaskQueue = '${taskQueue}' AND ExecutionStatus = 'Running'`
      const { executions } = await connection.workflowService.listWorkflowExecutions({ namespace, query })
      return (executions ?? []).some(({ execution }) => execution?.workflowId === workflowId)
    }
    await expect.poll(isOpen).toBe(true)
    await env.close()
    await expect.poll(isOpen).toBe(false)
    await connection.close()
  })
})

it('a test environment whose start fails ends what it has started', async () => {
  const [folder, before] = [emptyTemporaryFolder(), children()]
  const unreachable = createTestEnvironment({ server: { cliPath: '/nowhere/temporal' } })
  await expect(unreachable).rejects.toMatchObject({ code: 'TEMPORAL_UNREACHABLE' })
  const invalid = createTestEnvironment({ config: { limits: { turns: 0 } } })
  await expect(invalid).rejects.toMatchObject({ code: 'CONFIG_INVALID' })
  const noBackend = createTestEnvironment({ sandbox: { backend: 'docker', image: 'durable-ptc-missing' } })
  await expect(noBackend).rejects.toMatchObject({ code: expect.stringMatching(/^SANDBOX_/) })
  expect(readdirSync(folder)).toEqual([])
  await expect.poll(() => children().filter((pid) => !before.includes(pid))).toEqual([])
})
