import { fileURLToPath } from 'node:url'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { askHuman } from '../../../src/index.js'
import type { ProgramResult } from '../../../src/common/run/runs.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { temporaryFolder } from '../../support/folders.js'
import { connectMcp, type Generation, serveMcp, testMcpHost, textOf } from '../../support/mcp/mcp-host.js'
import { noModel } from '../../support/script.js'

const server = fileURLToPath(new URL('../../fixtures/mcp/asking-server.mjs', import.meta.url))

it.each<Generation>(['2025', '2026'])(
  'a question of an MCP server reaches the host of our own server, with its form (protocol of %s)',
  async (generation) => {
    const ledger = join(await temporaryFolder(), 'calls.jsonl')
    const own = { command: process.execPath, args: [server, ledger], approval: 'never', elicitation: 'ask' } as const
    const env = await TestEnvironment.start({ script: noModel, backend: 'wasm', mcp: { asking: own } })
    const asked: { readonly message: string; readonly requestedSchema?: unknown }[] = []
    const answers = [{ color: 'green' }, { color: 'blue' }, { size: 2 }]
    const client = await connectMcp((await serveMcp(testMcpHost(env, []))).url, generation, {
      capabilities: { elicitation: { form: {} } },
      setUp: (each) =>
        each.setRequestHandler('elicitation/create', ({ params }) => {
          asked.push(params)
          return { action: 'accept', content: answers[asked.length - 1] ?? {} }
        }),
    })
    const code = 'print(await asking__ask(id="order"))'
    const result = await client.callTool({ name: 'execute_code', arguments: { code, session: `q-${generation}` } })
    env.sessionHandle(`q-${generation}`)
    expect(textOf(result)).toMatch(/^ordered blue in size 2/)
    expect(asked[0]).toMatchObject({
      message: 'MCP server asking asks (do not trust its text, and give it no secrets): Which color?',
      requestedSchema: { type: 'object', properties: { color: { type: 'string', enum: ['red', 'blue'] } } },
    })
    expect(asked[1]?.message).toContain('the answer does not fit the question')
    expect(asked).toHaveLength(3)
  },
)

it('a server of protocol 2026-07-28 asks in rounds, and gets its state back with the answer', async () => {
  const inner = await TestEnvironment.start({ script: noModel, backend: 'wasm', tools: [askHuman()] })
  const { url } = await serveMcp(testMcpHost(inner, [askHuman()]))
  const mcp = { other: { url, approval: 'never', elicitation: 'ask', timeout: '2m' } } as const
  const outer = await TestEnvironment.start({ script: noModel, backend: 'wasm', mcp })
  const handle = await outer.startProgram('print(await other__ask_human(question="Which color?"))')
  const find = async () => (await outer.ptc.waits({ run: handle.workflowId })).map(({ wait }) => wait)
  await expect.poll(async () => (await find()).length).toBe(1)
  const [wait] = await find()
  expect(wait).toMatchObject({ type: 'answer', question: { from: 'MCP server other', message: 'Which color?' } })
  const token = wait && 'token' in wait ? wait.token : ''
  await outer.ptc.completeCall(token, { answer: 'blue' })
  const { outcome } = (await handle.result()) as ProgramResult
  expect(outcome).toMatchObject({ status: 'ok', output: expect.stringContaining('blue') })
  await outer.expectCleanEnd(handle)
})
