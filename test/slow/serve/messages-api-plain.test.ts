import type Anthropic from '@anthropic-ai/sdk'
import { jsonSchemaOutputFormat } from '@anthropic-ai/sdk/helpers/json-schema'
import { betaTool } from '@anthropic-ai/sdk/helpers/beta/json-schema'
import { createAnthropic } from '@ai-sdk/anthropic'
import { generateText, stepCountIs, streamText, tool as aiTool } from 'ai'
import { expect, it } from 'vitest'
import { z } from 'zod'
import type { ScriptedBlock } from '../../../src/testing/scripted-messages-api/script/script.js'
import { call, code, text, turn } from '../../support/script.js'
import { codeTool, MessagesClient, officialSdk, textOf, toolUses } from '../../support/serve/messages-client.js'
import { ServeEnvironment } from '../../support/serve/serve-environment.js'

const weather: Anthropic.Tool = {
  name: 'get-weather',
  description: 'The weather of a city.',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
}
const base = { model: 'scripted', max_tokens: 100 } satisfies Partial<Anthropic.MessageCreateParams>

async function start(...script: (readonly ScriptedBlock[])[]) {
  const served = await ServeEnvironment.start({ script: script.map((blocks) => turn(...blocks)) })
  const { url } = await served.server()
  const bodies = () => served.env.api.requests.map(({ body }) => body as Anthropic.MessageCreateParams)
  return { served, url, api: officialSdk(url), bodies }
}

async function openConversations({ env }: ServeEnvironment): Promise<number> {
  const query = `TaskQueue = '${env.taskQueue}' and ExecutionStatus = 'Running'`
  return (await env.client.workflow.count(query)).count
}

it("answers plain requests with only the client's own data, and leaves no conversation behind", async () => {
  const { served, api, bodies } = await start(
    [text('Hello.')],
    [text('I ask.'), call('get-weather', { city: 'Oslo' }), call('execute_code', { code: 'x' })],
    [text('It is 15 degrees. END and more')],
  )
  const messages: Anthropic.MessageParam[] = [
    { role: 'user', content: 'a' },
    { role: 'user', content: 'b' },
  ]
  const { data: hello, response } = await api.messages
    .create({ ...base, messages, metadata: { user_id: 'u' } })
    .withResponse()
  expect(hello).toMatchObject({ content: [{ type: 'text', text: 'Hello.' }], stop_reason: 'end_turn', container: null })
  expect(response.headers.get('request-id')).toMatch(/^req_/)
  expect(response.headers.get('ptc-ignored')).toBe('metadata')
  expect(bodies()[0]).not.toHaveProperty('tools')
  expect(bodies()[0]).not.toHaveProperty('system')
  expect(bodies()[0]?.messages).toMatchObject([{ role: 'user', content: [{ text: 'a' }, { text: 'b' }] }])

  // A client may have a tool with any name, even that of the tool for code.
  const execute: Anthropic.Tool = { name: 'execute_code', input_schema: { type: 'object', properties: { code: {} } } }
  messages.push({ role: 'assistant', content: hello.content }, { role: 'user', content: 'Oslo?' })
  const asked = await api.messages.create({
    ...base,
    system: 'Be short.',
    tools: [weather, execute],
    tool_choice: { type: 'any' },
    messages,
  })
  expect(asked).toMatchObject({ stop_reason: 'tool_use', container: null })
  expect(asked.content).toMatchObject([
    { type: 'text', text: 'I ask.' },
    { type: 'tool_use', name: 'get-weather', input: { city: 'Oslo' } },
    { type: 'tool_use', name: 'execute_code', input: { code: 'x' } },
  ])
  expect(bodies()[1]).toMatchObject({ tool_choice: { type: 'any' }, system: [{ text: 'Be short.' }] })
  expect(bodies()[1]?.tools).toMatchObject([{ name: 'get-weather' }, { name: 'execute_code' }])

  const results = toolUses(asked).map(({ id }) => ({ type: 'tool_result' as const, tool_use_id: id, content: '15' }))
  const image = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } } as const
  const done = await api.messages.create({
    ...base,
    tools: [weather, execute],
    stop_sequences: ['END'],
    messages: [
      ...messages,
      { role: 'assistant', content: asked.content },
      { role: 'user', content: [...results, { type: 'text', text: 'Be short.' }, image] },
    ],
  })
  expect(done).toMatchObject({ stop_reason: 'stop_sequence', stop_sequence: 'END' })
  expect(textOf(done)).toBe('It is 15 degrees. ')
  expect(bodies()[2]?.messages.at(-1)).toMatchObject({
    role: 'user',
    content: [{ type: 'tool_result' }, { type: 'tool_result' }, { type: 'text', text: 'Be short.' }, image],
  })
  await expect.poll(() => openConversations(served), { timeout: 60_000 }).toBe(0)
})

it('ends a plain request with the calls that fit their schemas, and at the limit of tokens', async () => {
  const { api, bodies } = await start(
    [call('get-weather', { city: 1 })],
    [call('get-weather', { city: 2 }), call('get-weather', { city: 'Rome' }), call('unknown')],
    [text('one two three four five six seven eight nine ten')],
  )
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Go.' }]
  const asked = await api.messages.create({ ...base, tools: [{ ...weather, strict: true }], messages })
  expect(asked.content).toMatchObject([{ type: 'tool_use', input: { city: 'Rome' } }])
  expect(bodies()[1]?.messages.at(-1)).toMatchObject({ content: [{ type: 'tool_result', is_error: true }] })
  const answered: Anthropic.MessageParam[] = [{ role: 'assistant', content: 'So?' }, ...messages]
  const cut = await api.messages.create({ ...base, max_tokens: 4, messages: [...messages, ...answered, ...answered] })
  expect(cut.stop_reason).toBe('max_tokens')
  expect(textOf(cut)).toMatch(/^one/)
  expect(bodies()).toHaveLength(3)
})

it('works with the unchanged tool runner of the official SDK, also when it streams', async () => {
  const calls = [
    [text('I ask.'), call('get-weather', { city: 'Oslo' }), call('get-weather', { city: 'Rome' })],
    [text('Both: {{last_tool_result}}')],
  ]
  const { api } = await start(...calls, ...calls)
  const run = betaTool({
    name: 'get-weather',
    inputSchema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    description: 'The weather of a city.',
    run: ({ city }) => `15 in ${city}`,
  })
  const params = { ...base, tools: [run], messages: [{ role: 'user' as const, content: 'Compare.' }] }
  const answer = await api.beta.messages.toolRunner(params)
  expect(answer.content.at(-1)).toMatchObject({ type: 'text', text: 'Both: 15 in Rome' })
  const types: string[] = []
  for await (const stream of api.beta.messages.toolRunner({ ...params, stream: true })) {
    for await (const event of stream) types.push(event.type)
  }
  expect(types.filter((type) => type === 'message_stop')).toHaveLength(2)
})

it('works with the unchanged AI SDK, also when it streams', async () => {
  const calls = [
    [text('I ask.'), call('get_weather', { city: 'Oslo' }), call('get_weather', { city: 'Rome' })],
    [text('Both: {{last_tool_result}}')],
  ]
  const { url } = await start(...calls)
  const model = createAnthropic({ baseURL: `${url}/v1`, apiKey: 'any' })('scripted')
  const tools = {
    get_weather: aiTool({
      description: 'The weather of a city.',
      inputSchema: z.object({ city: z.string() }),
      execute: ({ city }) => `15 in ${city}`,
    }),
  }
  const params = { model, tools, system: 'Be short.', prompt: 'Compare.', stopWhen: stepCountIs(3), maxRetries: 0 }
  expect((await generateText(params)).text).toBe('Both: 15 in Rome')
  expect(await streamText(params).text).toBe('Both: 15 in Rome')
})

it('gives answers that fit a schema to parse of the official SDK', async () => {
  const { api, bodies } = await start(
    [text('Let me see.'), call('get-weather', { city: 'Oslo' })],
    [text('It is 15.')],
    [call('submit_answer', { degrees: 'warm' })],
    [call('submit_answer', { degrees: 15 })],
  )
  const format = jsonSchemaOutputFormat({
    type: 'object',
    properties: { degrees: { type: 'integer' } },
    required: ['degrees'],
    additionalProperties: false,
  } as const)
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'How warm?' }]
  const asked = await api.messages.parse({ ...base, tools: [weather], messages, output_config: { format } })
  expect(asked.content).toMatchObject([{ type: 'tool_use', name: 'get-weather' }])
  messages.push({ role: 'assistant', content: 'Which city?' }, { role: 'user', content: 'Oslo.' })
  const parsed = await api.messages.parse({ ...base, messages, output_config: { format } })
  expect(parsed.parsed_output).toEqual({ degrees: 15 })
  expect(parsed.content).toMatchObject([{ type: 'text', text: '{"degrees":15}' }])
  expect(bodies()).toHaveLength(4)
})

it('accepts texts with results of direct calls of a container, and such results without their container', async () => {
  const { served, url, bodies } = await start([call('get-weather', { city: 'Oslo' })], [text('Warm.')], [text('Fine.')])
  const client = new MessagesClient(served, url, [weather])
  const asked = await client.ask('How warm?')
  const results = toolUses(asked).map(({ id }) => ({ type: 'tool_result' as const, tool_use_id: id, content: '15' }))
  client.messages.push({ role: 'user', content: [...results, { type: 'text', text: 'Be short.' }] })
  client.messages.push({ role: 'assistant', content: [] })
  const warm = await client.repeat()
  expect(textOf(warm)).toBe('Warm.')
  expect(await client.repeat()).toEqual({ ...warm, container: expect.anything() as unknown })
  expect(bodies()).toHaveLength(2)
  expect(bodies()[1]?.messages.at(-1)).toMatchObject({ content: [{ type: 'tool_result' }, { text: 'Be short.' }] })
  expect(textOf(await client.ask('Thanks.'))).toBe('Fine.')

  client.container = undefined
  client.messages.splice(3)
  client.messages.push({ role: 'assistant', content: [] })
  const again = await client.repeat()
  expect(textOf(again)).toBe('Warm.')
  expect(again.container?.id).not.toBe(warm.container?.id)
  expect(bodies()[3]?.messages).toMatchObject([
    { content: [{ text: 'How warm?' }] },
    { content: [{ type: 'tool_use' }] },
    { content: [{ type: 'tool_result' }, { text: 'Be short.' }] },
  ])
})

it('shows the client its own names of tools that have other names in code', async () => {
  const source = 'print(*await asyncio.gather(get_weather(city="Oslo"), sum_tool(city="Rome")))'
  const { served, url } = await start([code(source)], [text('Done.')])
  const forCode = { ...weather, allowed_callers: ['code_execution_20260120' as const] }
  const client = new MessagesClient(served, url, [forCode, { ...forCode, name: 'sum' }])
  const paused = await client.ask('Compare.')
  expect(toolUses(paused)).toMatchObject([
    { name: 'get-weather', input: { city: 'Oslo' } },
    { name: 'sum', input: { city: 'Rome' } },
  ])
  const done = await client.answer(paused, ({ name }) => `from ${name}`)
  expect(done.content).toMatchObject([
    { type: 'code_execution_tool_result', content: { stdout: 'from get-weather from sum\n' } },
    { type: 'text', text: 'Done.' },
  ])
})

it('closes the conversations of clients that leave at any moment', async () => {
  const served = await ServeEnvironment.start({
    script: Array.from({ length: 40 }, () => turn(code('print(await ask(n=1))'))),
  })
  const { url } = await served.server()
  const ask: Anthropic.Tool = {
    name: 'ask',
    input_schema: { type: 'object', properties: { n: { type: 'integer' } } },
    allowed_callers: ['code_execution_20260120'],
  }
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Go.' }]
  const leave = async (position: number): Promise<boolean> => {
    const body = JSON.stringify(
      position % 4 === 0 ? { ...base, messages } : { ...base, messages, tools: [codeTool, ask] },
    )
    const signal = AbortSignal.timeout(5 + position * 12)
    const sent = fetch(`${url}/v1/messages`, { method: 'POST', body, signal })
    return sent
      .then(async (response) => ((await response.json()) as Anthropic.Message).container != null)
      .catch(() => false)
  }
  let known = 0
  // Sequential requests, because this process is the server, the worker and the clients.
  for (let position = 0; position < 40; position += 1) known += Number(await leave(position))
  // The list of workflows is not up to date yet. It must contain all that have begun first.
  let counted = -1
  const begun = async (): Promise<boolean> => {
    const before = counted
    counted = (await served.env.client.workflow.count(`TaskQueue = '${served.env.taskQueue}'`)).count
    return before === counted && counted > 0
  }
  await expect.poll(begun, { timeout: 90_000, interval: 3_000 }).toBe(true)
  await expect.poll(() => openConversations(served), { timeout: 90_000 }).toBe(known)
})

it('counts tokens, lists models, and reports what it does not support', async () => {
  const served = await ServeEnvironment.start({ script: [turn(text('unused'))] })
  const { url } = await served.server({ models: ['anthropic/claude-x', 'scripted'] })
  const api = officialSdk(url)
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'x'.repeat(3_500) }]
  const { input_tokens: tokens } = await api.messages.countTokens({ model: 'scripted', messages, tools: [weather] })
  expect(tokens).toBeGreaterThan(1_000)
  expect(tokens).toBeLessThan(1_200)
  const models = await api.models.list()
  expect(models.data.map(({ id }) => id)).toEqual(['anthropic/claude-x', 'scripted'])
  expect(await api.models.retrieve('anthropic/claude-x')).toMatchObject({ type: 'model', id: 'anthropic/claude-x' })
  await expect(api.models.retrieve('other')).rejects.toMatchObject({ status: 404 })
  await expect(
    api.messages.create({ ...base, messages: [...messages, { role: 'assistant', content: 'So' }] }),
  ).rejects.toMatchObject({ status: 400, error: { error: { message: expect.stringContaining('prefill') as string } } })
})
