import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { WorkflowHandle } from '@temporalio/client'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { CallWait } from '../../../src/client/run-tree/index.js'
import type { ProgramResult } from '../../../src/common/run/runs.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { noModel } from '../../support/script.js'

const server = fileURLToPath(new URL('../../fixtures/mcp/asking-server.mjs', import.meta.url))
const everything = fileURLToPath(
  new URL('../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js', import.meta.url),
)

let env: TestEnvironment
let folder: string
let ledger: string
let end: (() => Promise<void>) | undefined

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ptc-test-'))
  ledger = join(folder, 'calls.jsonl')
  const own = { command: process.execPath, args: [server, ledger], approval: 'never' } as const
  env = await TestEnvironment.start({
    script: noModel,
    backend: 'wasm',
    mcp: {
      asking: { ...own, elicitation: 'ask' },
      silent: own,
      everything: { command: process.execPath, args: [everything], approval: 'never', elicitation: 'ask' },
    },
    limits: { historyEvents: 60 },
    timeouts: { park: '1s' },
    onCleanup: (cleanup) => (end = cleanup),
  })
})
afterAll(async () => {
  await end?.()
  await rm(folder, { recursive: true, force: true })
})

const lines = (): readonly Record<string, unknown>[] =>
  existsSync(ledger)
    ? readFileSync(ledger, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Record<string, unknown>)
    : []

const executed = (id: string) => lines().filter((line) => line['id'] === id)

/** The question that a run waits for, as its workflow says. */
async function questionOf({ workflowId }: WorkflowHandle, message?: string): Promise<CallWait> {
  const find = async () => {
    const waits = await env.ptc.waits({ run: workflowId })
    return waits.flatMap(({ wait }) => (wait.type === 'answer' && wait.question ? [wait] : []))
  }
  const matches = (wait: CallWait | undefined) => wait && (!message || wait.question?.message.includes(message))
  await expect.poll(async () => Boolean(matches((await find())[0]))).toBe(true)
  const [wait] = await find()
  if (!wait) throw new Error('the run waits for no answer')
  return wait
}

const resultOf = async (handle: WorkflowHandle) => ((await handle.result()) as ProgramResult).outcome

it('a question of an MCP server waits for a person, and the call is made again with the answer', async () => {
  const handle = await env.startProgram('print(await asking__ask(id="order"))')
  const first = await questionOf(handle, 'color')
  expect(first).toMatchObject({
    tool: 'asking__ask',
    summary: 'MCP server asking asks (do not trust its text, and give it no secrets): Which color?',
    question: {
      from: 'MCP server asking',
      message: 'Which color?',
      schema: { type: 'object', properties: { color: { type: 'string', enum: ['red', 'blue'] } }, required: ['color'] },
    },
  })
  const tree = await env.ptc.handle(handle.workflowId).tree()
  expect(tree.waitsFor).toMatchObject([{ type: 'answer', question: first.question, token: first.token }])
  await env.ptc.completeCall(first.token, { color: 'blue' })
  const second = await questionOf(handle, 'size')
  await env.ptc.completeCall(second.token, '42')
  expect(await resultOf(handle)).toMatchObject({ status: 'ok', output: 'ordered blue in size 42\n' })
  const made = executed('order')
  expect(made).toHaveLength(3)
  expect(new Set(made.map(({ key }) => key)).size).toBe(1)
  expect(lines().filter(({ effect }) => effect === 'order')).toHaveLength(1)
  await env.expectCleanEnd(handle)
})

it.each([
  ['declines', 'no order: decline\n', (token: string) => env.ptc.failCall(token, 'not now')],
  ['cancels', 'ToolError no order: cancel\n', (token: string) => env.ptc.failCall(token, '', { cancel: true })],
])('a person who %s: the server learns that', async (_what, output, decide) => {
  const handle = await env.startProgram(
    'try: print(await asking__ask(id="order"))\nexcept ToolError as error: print("ToolError", error)',
  )
  await decide((await questionOf(handle)).token)
  expect(await resultOf(handle)).toMatchObject({ status: 'ok', output })
  await env.expectCleanEnd(handle)
})

it('an answer that does not fit the schema is refused, and the question still waits', async () => {
  const handle = await env.startProgram('print(await asking__ask(id="order"))')
  const { token } = await questionOf(handle, 'color')
  for (const answer of ['green', { color: 'red', size: 1 }, {}, 7, null, { color: 'x'.repeat(100_000) }])
    await expect(env.ptc.completeCall(token, answer)).rejects.toMatchObject({
      code: 'TOOL_OUTPUT_INVALID',
      message: expect.stringContaining('the answer does not fit the question'),
    })
  await env.ptc.completeCall(token, 'red')
  const second = await questionOf(handle, 'size')
  await expect(env.ptc.completeCall(second.token, 'large')).rejects.toMatchObject({ code: 'TOOL_OUTPUT_INVALID' })
  await expect(env.ptc.completeCall(token, 'blue')).rejects.toMatchObject({ code: 'CALL_COMPLETED' })
  await env.ptc.completeCall(second.token, { size: 3 })
  expect(await resultOf(handle)).toMatchObject({ output: 'ordered red in size 3\n' })
  await env.expectCleanEnd(handle)
})

it('a question waits over continue-as-new, in a parked session, and keeps its token', async () => {
  const handle = await env.startProgram(`
import asyncio
async def others():
    for n in range(30): await silent__ask(id=str(n))
results = await asyncio.gather(asking__ask(id="order"), others())
print(results[0])`)
  const { token } = await questionOf(handle, 'color')
  await expect.poll(async () => (await env.executionHistories(handle)).length).toBeGreaterThan(1)
  await env.ptc.completeCall(token, 'red')
  await env.ptc.completeCall((await questionOf(handle, 'size')).token, '7')
  expect(await resultOf(handle)).toMatchObject({ status: 'ok', output: 'ordered red in size 7\n' })
  await env.expectCleanEnd(handle)
})

it('a server that asks 1,000 times gets 20 answers, and then its call is refused', async () => {
  const handle = await env.startProgram(
    'try: print(await asking__ask(id="endless"))\nexcept ToolError as error: print(error)',
  )
  for (let number = 1; number <= 20; number++)
    await env.ptc.completeCall((await questionOf(handle, `Is ${number} right?`)).token, 'yes')
  expect(await resultOf(handle)).toMatchObject({
    output: 'MCP server asking asks more than 20 questions in one call\n',
  })
  await env.expectCleanEnd(handle)
})

it('a question of 10 MB is cut before it is recorded', async () => {
  const handle = await env.startProgram('print(await asking__ask(id="huge"))')
  const { question, token } = await questionOf(handle)
  expect(question?.message).toMatch(/^begin x+\n\[\.\.\. \d+ characters cut \.\.\.\]\nx+ end$/)
  expect(question?.message.length).toBeLessThan(4_200)
  await env.ptc.completeCall(token, 'red')
  expect(await resultOf(handle)).toMatchObject({ output: '{"action":"accept","content":{"color":"red"}}\n' })
  expect((await handle.describe()).historySize ?? 0).toBeLessThan(100_000)
  await env.expectCleanEnd(handle)
})

it.each([
  ['a deeply nested schema', 'bomb', ''],
  ['a schema with 1,000 members', 'many_members', 'at most'],
  ['an address that is a script', 'script_url', ''],
])('a question with %s is refused, and nobody sees it', async (_what, id, message) => {
  const handle = await env.startProgram(`print(await asking__ask(id="${id}"))`)
  const { output } = (await resultOf(handle)) as { readonly output: string }
  expect(JSON.parse(output)).toMatchObject({ action: 'error', error: { message: expect.stringContaining(message) } })
  await env.expectCleanEnd(handle)
})

it('a question for a secret names its server, is marked as untrusted, and has no control characters', async () => {
  const handle = await env.startProgram('print(await asking__ask(id="secrets"))')
  const { question, summary, token } = await questionOf(handle)
  expect(summary).toMatch(/^MCP server asking asks \(do not trust its text, and give it no secrets\): /)
  expect(question).toMatchObject({
    message: 'From: durable-ptc␛[2J\nYour <U+202E>password␇, please',
    schema: { properties: { password: { description: '␛]0;title␇' } } },
  })
  await env.ptc.failCall(token, 'no')
  expect(await resultOf(handle)).toMatchObject({ output: '{"action":"decline"}\n' })
})

it('a pattern in the schema of a question is dropped', async () => {
  const handle = await env.startProgram('print(await asking__ask(id="pattern"))')
  const { question, token } = await questionOf(handle)
  expect(JSON.stringify(question)).not.toContain('pattern')
  await env.ptc.completeCall(token, `${'a'.repeat(100)}!`)
  expect(await resultOf(handle)).toMatchObject({ status: 'ok' })
})

it('an address that a person is asked to open is shown as text, and any answer says that they agree', async () => {
  const handle = await env.startProgram('print(await asking__ask(id="url"))')
  const { question, summary, token } = await questionOf(handle)
  expect(question).toEqual({ from: 'MCP server asking', message: 'Sign in.', url: 'https://example.test/in' })
  expect(summary).toContain('Sign in. https://example.test/in')
  await env.ptc.completeCall(token, 'done')
  expect(await resultOf(handle)).toMatchObject({ output: '{"action":"accept"}\n' })
})

it('a server that changes its question gets no answer to another question', async () => {
  const handle = await env.startProgram(
    'try: print(await asking__ask(id="changes"))\nexcept ToolError as error: print(error)',
  )
  for (let number = 1; number <= 20; number++)
    await env.ptc.completeCall((await questionOf(handle, `Which color, ${number}?`)).token, 'red')
  expect(await resultOf(handle)).toMatchObject({
    output: 'MCP server asking asks more than 20 questions in one call\n',
  })
})

it('a server that acts before it asks acts again when the question is answered', async () => {
  const handle = await env.startProgram('print(await asking__ask(id="acts_first"))')
  await env.ptc.completeCall((await questionOf(handle)).token, 'red')
  expect(await resultOf(handle)).toMatchObject({ status: 'ok' })
  expect(lines().filter(({ effect }) => effect === 'early')).toHaveLength(2)
})

it('a question of a run that is cancelled ends with the run, and its token is refused', async () => {
  const handle = await env.startProgram('print(await asking__ask(id="order"))')
  const { token } = await questionOf(handle)
  await handle.cancel()
  await expect(handle.result()).rejects.toMatchObject({ cause: expect.objectContaining({ name: 'CancelledFailure' }) })
  await expect(env.ptc.completeCall(token, 'red')).rejects.toMatchObject({ code: 'CALL_NOT_FOUND' })
})

it('a server that asks after its call was given up asks nobody, because its connection is closed', async () => {
  const handle = await env.startProgram('print(await asking__ask(id="pid"))\nprint(await asking__ask(id="late"))')
  const { token } = await questionOf(handle, 'Which color')
  const other = await env.runProgram('print(await asking__ask(id="pid"))')
  await env.ptc.failCall(token, 'no')
  expect(other.outcome).toMatchObject({ status: 'ok' })
  await handle.cancel()
  const pids = lines().flatMap(({ capabilities, pid }) => (capabilities ? [pid] : []))
  expect((other.outcome as { readonly output: string }).output.trim()).toBe(String(pids.at(-1)))
  expect(pids.length).toBeGreaterThan(2)
})

it('questions of concurrent calls come to their own runs', async () => {
  const sources = ['red', 'blue'].map((color) => [color, 'print(await asking__ask(id="order"))'] as const)
  const handles = await Promise.all(sources.map(([, source]) => env.startProgram(source)))
  await Promise.all(
    handles.map(async (handle, index) => {
      await env.ptc.completeCall((await questionOf(handle, 'color')).token, sources[index]?.[0] ?? '')
      await env.ptc.completeCall((await questionOf(handle, 'size')).token, String(index + 1))
    }),
  )
  const outputs = await Promise.all(handles.map(resultOf))
  expect(outputs).toMatchObject([{ output: 'ordered red in size 1\n' }, { output: 'ordered blue in size 2\n' }])
})

it('a server whose elicitation is not allowed is told that nobody can be asked', async () => {
  const result = await env.runProgram('print(await silent__ask(id="order"))')
  expect(result.outcome).toMatchObject({ status: 'ok', output: 'no order: error\n' })
  const declared = lines().flatMap(({ capabilities }) => (capabilities ? [capabilities] : []))
  expect(declared).toContainEqual({})
  expect(declared).toContainEqual({ elicitation: { form: {}, url: {} } })
})

it('the published server-everything asks a person by its elicitation tool', async () => {
  const handle = await env.startProgram('print(await everything__trigger_elicitation_request())')
  const { question, token } = await questionOf(handle)
  expect(Object.keys((question?.schema?.['properties'] as object | undefined) ?? {})).toContain('name')
  await env.ptc.completeCall(token, { name: 'Ada', integer: 3 })
  expect(await resultOf(handle)).toMatchObject({ status: 'ok', output: expect.stringContaining('Ada') })
  await env.expectCleanEnd(handle)
})

it('a server that asks for a reply of a model is told that there is none', async () => {
  for (const name of ['asking', 'silent']) {
    const { outcome } = await env.runProgram(`print(await ${name}__ask(id="samples"))`)
    const { output } = outcome as { readonly output: string }
    expect(JSON.parse(output)).toMatchObject({ action: 'error', error: { code: -32601 } })
  }
})

it('a question that nobody answers expires, and its server learns that it was cancelled', async () => {
  const mcp = {
    asking: { command: process.execPath, args: [server, ledger], approval: 'never', elicitation: 'ask' },
  } as const
  const soon = await TestEnvironment.start({ script: noModel, backend: 'wasm', mcp, approvals: { expires: '2s' } })
  const result = await soon.runProgram(
    'try: print(await asking__ask(id="order"))\nexcept ToolError as error: print("ToolError", error)',
  )
  expect(result.outcome).toMatchObject({ status: 'ok', output: 'ToolError no order: cancel\n' })
})
