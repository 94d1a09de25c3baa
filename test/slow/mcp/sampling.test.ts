import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type AgentResult, type ProgramResult, promptTokens } from '../../../src/common/run/runs.js'
import { fileStream } from '../../../src/index.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { code, text, turn } from '../../support/script.js'
import { readEvents } from '../../support/stream/shown-text.js'

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
  process.env['SECRET_OF_TEST'] = 'the-secret-of-the-test'
  const own = { command: process.execPath, args: [server, ledger], approval: 'never' } as const
  const everythingServer = { command: process.execPath, args: [everything], approval: 'never' } as const
  env = await TestEnvironment.start({
    script: {
      conversations: [
        {
          match: { firstUserText: 'Work.' },
          turns: [turn(code('print(await asking__ask(id="samples_twice"))')), turn(text('{{last_tool_result}}'))],
        },
        {
          match: { firstUserText: 'Spend.' },
          turns: [turn(code('print(await asking__ask(id="samples_long_texts"))')), turn(text('{{last_tool_result}}'))],
        },
        { match: { firstUserText: 'slowly' }, turns: [{ ...turn(text('yes')), msPerChunk: 60_000 }] },
        // The replies to the requests of servers.
        { turns: [turn(text('yes')), turn(text('yes, again'))] },
      ],
    },
    backend: 'wasm',
    stream: fileStream({ folder: join(folder, 'stream') }),
    credentials: { secret: { environment: 'SECRET_OF_TEST' } },
    mcp: {
      asking: { ...own, sampling: {}, elicitation: 'ask', env: { SECRET: '${secret}' } },
      few: { ...own, sampling: { requests: 3 } },
      small: { ...own, sampling: { tokens: 60 } },
      brief: { ...own, sampling: {}, timeout: '2s' },
      silent: own,
      everything: { ...everythingServer, sampling: {} },
      quiet: everythingServer,
    },
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

/** Runs one call. Returns its printed result. */
async function printed(call: string): Promise<string> {
  const { outcome } = await env.runProgram(`try: print(await ${call})\nexcept ToolError as error: print(error)`)
  expect(outcome).toMatchObject({ status: 'ok' })
  return (outcome as { readonly output: string }).output.trim()
}

it('the published server-everything gets a reply of the model of the run', async () => {
  const handle = await env.startProgram(
    'print(await everything__trigger_sampling_request(prompt="What is it?", maxTokens=20))',
  )
  const { outcome, usage, costUsd } = (await handle.result()) as ProgramResult
  expect(outcome).toMatchObject({ status: 'ok' })
  const { output } = outcome as { readonly output: string }
  expect(JSON.parse(output.slice(output.indexOf('{')))).toMatchObject({
    role: 'assistant',
    content: { type: 'text', text: 'yes' },
    stopReason: 'endTurn',
  })
  expect(usage.outputTokens).toBeGreaterThan(0)
  expect(costUsd).not.toBe(0)
  expect(env.api.requests.at(-1)?.body).toMatchObject({
    max_tokens: 20,
    messages: [{ role: 'user', content: [{ text: 'Resource trigger-sampling-request context: What is it?' }] }],
  })
  await env.expectCleanEnd(handle)
})

it('a server that may not ask does not see the capability, and its request is refused', async () => {
  expect(JSON.parse(await printed('silent__ask(id="samples")'))).toMatchObject({ error: { code: -32601 } })
  expect(await printed('asking__ask(id="samples")')).toContain('"text":"yes"')
  const declared = lines().flatMap(({ capabilities }) => (capabilities ? [capabilities] : []))
  expect(declared).toContainEqual({})
  expect(declared).toContainEqual({ elicitation: { form: {}, url: {} }, sampling: {} })
  const { outcome } = await env.runProgram('print(await quiet__trigger_sampling_request(prompt="x"))')
  expect(outcome).toMatchObject({ status: 'code_error' })
})

it('a request has its messages, images and settings, and no preference of the server', async () => {
  expect(await printed('asking__ask(id="samples_with_all")')).toContain('"text":"yes, again"')
  const body = env.api.requests.at(-1)?.body as Record<string, unknown>
  expect(body).toMatchObject({
    model: expect.not.stringContaining('other'),
    max_tokens: 50,
    temperature: 0.5,
    stop_sequences: ['END'],
    messages: [
      { role: 'user', content: [{ text: 'See:' }, { type: 'image', source: { media_type: 'image/png' } }] },
      { role: 'assistant', content: [{ text: 'I see.' }] },
      { role: 'user', content: [{ text: '\uFFFD lone' }] },
    ],
  })
  expect(JSON.stringify(body['system'])).toContain('Be brief.')
  expect(body).not.toHaveProperty('tools')
})

it('a credential in a request is replaced before the model and the history get it', async () => {
  const handle = await env.startProgram('print(await asking__ask(id="samples_secret"))')
  await handle.result()
  expect(JSON.stringify(env.api.requests.at(-1)?.body)).toContain('My secret is [credential secret].')
  expect(JSON.stringify(await env.executionHistories(handle))).not.toContain('the-secret-of-the-test')
})

it('the replies count for the run of an agent, and its stream shows them', async () => {
  const handle = await env.startAgent({ question: 'Work.' })
  const events = await readEvents(env.ptc.handle(handle.workflowId).stream())
  const result = (await handle.result()) as AgentResult
  expect(result).toMatchObject({ status: 'answered', answer: 'yes,yes', turns: 2 })
  const activities = (await env.activities(handle)).filter(({ type }) => type === 'model.sample')
  expect(activities.map(({ summary }) => summary)).toEqual(Array(2).fill('MCP server asking asks the model'))
  expect(events.filter(({ type }) => type.startsWith('sampling.'))).toMatchObject([
    { type: 'sampling.started', tool: 'asking__ask', turn: 1, cell: 1, index: 1 },
    { type: 'sampling.completed', stopReason: 'end_turn' },
    { type: 'sampling.started' },
    { type: 'sampling.completed' },
  ])
  expect(result.usage.outputTokens).toBeGreaterThan(events.filter(({ type }) => type === 'turn.completed').length)
  await env.expectCleanEnd(handle)
})

it('a server whose requests are used up gets an error, also from 1,000 requests at once', async () => {
  const before = env.api.requests.length
  const result = JSON.parse(await printed('few__ask(id="samples_many")')) as object
  expect(result).toEqual({
    replies: 3,
    refusals: ['yes', 'a run answers at most 3 requests of MCP server few'],
  })
  expect(env.api.requests.length - before).toBe(3)
  const calls = '[await few__ask(id="samples_twice") for _ in range(2)]'
  const { outcome } = await env.runProgram(`print(${calls})`)
  expect(outcome).toMatchObject({
    output: "['yes,yes', 'yes,a run answers at most 3 requests of MCP server few']\n",
  })
})

it('a server whose tokens are used up gets an error', async () => {
  const { replies, refusal } = JSON.parse(await printed('small__ask(id="samples_without_end")')) as {
    readonly replies: number
    readonly refusal: string
  }
  expect(replies).toBeGreaterThan(0)
  expect(replies).toBeLessThan(20)
  expect(refusal).toBe('the requests of MCP server small may have 60 tokens in a run')
})

it('a server of a run whose budget is spent gets an error', async () => {
  const handle = await env.startAgent({ question: 'Spend.', budget: { tokens: 30_000, whenSpent: 'end' } })
  const { usage } = (await handle.result()) as AgentResult
  expect(promptTokens(usage)).toBeGreaterThan(20_000)
  expect(promptTokens(usage)).toBeLessThan(45_000)
  const replies = lines().flatMap(({ long }) => (long === undefined ? [] : [long]))
  expect(replies).toContain('yes')
  expect(replies.at(-1)).toBe('the budget of 30000 tokens is spent')
})

it.each([
  ['10 MB of text', 'samples_huge', 'may have 1048576 bytes of text'],
  ['a sound', 'samples_sound', 'may have texts, and images'],
  ['tools', 'samples_with_tools', 'may have no tools'],
])('a request with %s is refused, and costs nothing', async (_what, id, message) => {
  const before = env.api.requests.length
  expect(await printed(`asking__ask(id="${id}")`)).toContain(message)
  expect(env.api.requests).toHaveLength(before)
})

it('a request outside of a call, and after a call was cancelled, is refused', async () => {
  const before = env.api.requests.length
  expect(await printed('brief__ask(id="samples_later")')).toBe('done')
  await expect
    .poll(() => lines().filter(({ later }) => later))
    .toMatchObject([{ later: 'only a call of a tool gets a reply of a model' }])
  const { outcome } = await env.runProgram(
    'try: print(await brief__ask(id="samples_cancelled"))\nexcept ToolOutcomeUnknown: print("unknown")',
  )
  expect(outcome).toMatchObject({ output: 'unknown\n' })
  expect(env.api.requests).toHaveLength(before)
  expect(lines().filter(({ cancelled }) => cancelled === 'yes')).toEqual([])
})

it('a request ends with its call, and a reply that nobody waits for is not awaited', async () => {
  const handle = await env.startProgram(
    'try: print(await brief__ask(id="samples_slowly"))\nexcept ToolOutcomeUnknown: print("unknown")',
  )
  expect(((await handle.result()) as ProgramResult).outcome).toMatchObject({ output: 'unknown\n' })
  const { events } = await handle.fetchHistory()
  const asked = (events ?? []).find(({ activityTaskScheduledEventAttributes: scheduled }) => {
    return scheduled?.activityType?.name === 'model.sample'
  })
  const cancelled = (events ?? []).map(({ activityTaskCancelRequestedEventAttributes: request }) => request)
  expect(cancelled.map((request) => String(request?.scheduledEventId))).toContain(String(asked?.eventId))
  await env.expectCleanEnd(handle)
})

it('a client of Temporal that is no call gets no reply', async () => {
  const before = env.api.requests.length
  const handle = await env.startProgram('print(await asking__ask(id="samples_and_asks"))')
  await expect.poll(async () => (await env.ptc.waits({ run: handle.workflowId })).length).toBe(1)
  const input = { id: 'x', request: { messages: [] }, maxTokens: 10, promptTokens: 1 }
  const key = (await env.activities(handle)).flatMap(({ type, id }) => (type === 'asking__ask' ? [id] : []))[0]
  for (const [args, code] of [
    [{ ...input, idempotencyKey: key ?? '' }, 'CALL_NOT_FOUND'],
    [{ ...input, idempotencyKey: '__proto__' }, 'CALL_NOT_FOUND'],
    [{ ...input, idempotencyKey: 'x', id: 'x'.repeat(100) }, 'RUN_INPUT_INVALID'],
    [{ ...input, idempotencyKey: 'x', maxTokens: -1 }, 'RUN_INPUT_INVALID'],
    [null, 'RUN_INPUT_INVALID'],
  ] as const)
    await expect(handle.executeUpdate('ptc.sample', { args: [args] })).rejects.toMatchObject({ cause: { type: code } })
  await handle.cancel()
  await expect(handle.result()).rejects.toThrow()
  expect(env.api.requests.length - before).toBe(1)
})

it('a call that asks the model, and then a person, gets the same reply again without another request', async () => {
  const before = env.api.requests.length
  const handle = await env.startProgram('print(await asking__ask(id="samples_and_asks"))')
  const find = async () =>
    (await env.ptc.waits({ run: handle.workflowId })).flatMap(({ wait }) => (wait.type === 'answer' ? [wait] : []))
  await expect.poll(async () => (await find()).length).toBe(1)
  const { totals } = await env.ptc.handle(handle.workflowId).tree()
  await env.ptc.completeCall((await find())[0]?.token ?? '', 'red')
  const result = (await handle.result()) as ProgramResult
  expect(totals.usage).toEqual(result.usage)
  expect(result.outcome).toMatchObject({ output: 'yes red\n' })
  expect(env.api.requests.length - before).toBe(1)
  await env.expectCleanEnd(handle)
})
