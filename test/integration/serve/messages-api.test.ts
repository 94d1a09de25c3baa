import type Anthropic from '@anthropic-ai/sdk'
import { expect, it } from 'vitest'
import type { ScriptedTurn } from '../../../src/testing/index.js'
import { activitySummaries } from '../../support/environment/activity-summaries.js'
import { call, code, text, turn } from '../../support/script.js'
import { codeTool, MessagesClient, officialSdk, textOf, toolUses } from '../../support/serve/messages-client.js'
import { ServeEnvironment } from '../../support/serve/serve-environment.js'

const weather: Anthropic.Tool = {
  name: 'get_weather',
  description: 'The weather of a city, as JSON.',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  allowed_callers: ['code_execution_20260120'],
}

const gathered = `
import json
first, second = await asyncio.gather(get_weather({"city": "Oslo"}), get_weather(city="Rome"))
total = json.loads(first)["degrees"] + json.loads(second)["degrees"]
print(total)`

const degrees = () => '{"degrees": 15}'

async function start(...script: readonly ScriptedTurn[]) {
  const served = await ServeEnvironment.start({ script })
  const { url } = await served.server()
  return { served, client: new MessagesClient(served, url, [weather]) }
}

it('runs code in a sandbox of this package for a client of the official API', async () => {
  const { client } = await start(turn(text('I add.'), code(gathered)), turn(text('It is 30.')))
  const first = await client.ask('How warm is it?')
  expect(first).toMatchObject({
    type: 'message',
    role: 'assistant',
    stop_reason: 'tool_use',
    container: { id: expect.stringMatching(/^container_/) as string },
  })
  const [said, run, ...calls] = first.content
  expect(said).toMatchObject({ type: 'text', text: 'I add.' })
  expect(run).toMatchObject({ type: 'server_tool_use', name: 'code_execution', input: { code: gathered } })
  const tool_id = run?.type === 'server_tool_use' ? run.id : ''
  const caller = { type: 'code_execution_20260120', tool_id }
  expect(calls).toMatchObject([
    { type: 'tool_use', name: 'get_weather', input: { city: 'Oslo' }, caller },
    { type: 'tool_use', name: 'get_weather', input: { city: 'Rome' }, caller },
  ])
  expect(Date.parse(first.container?.expires_at ?? '')).toBeGreaterThan(Date.now() + 24 * 60 * 60 * 1_000)
  expect(first.usage.output_tokens).toBeGreaterThan(0)
  const last = await client.answer(first, degrees)
  expect(last).toMatchObject({
    stop_reason: 'end_turn',
    container: { id: first.container?.id },
    content: [
      {
        type: 'code_execution_tool_result',
        tool_use_id: tool_id,
        content: { type: 'code_execution_result', stdout: '30\n', stderr: '', return_code: 0 },
      },
      { type: 'text', text: 'It is 30.' },
    ],
  })
})

it('pauses for each call in a loop, and keeps variables from request to request', async () => {
  const loop = 'found = [await get_weather(city=c) for c in ("Oslo", "Rome")]\nprint(len(found))'
  const { served, client } = await start(
    turn(code(loop)),
    turn(text('Two.')),
    turn(code('print(found[1])')),
    turn(text('That was Rome.')),
  )
  const oslo = await client.ask('Ask.')
  expect(toolUses(oslo)).toMatchObject([{ input: { city: 'Oslo' } }])
  const rome = await client.answer(oslo, () => 'cold')
  expect(rome).toMatchObject({ stop_reason: 'tool_use', usage: { input_tokens: 0, output_tokens: 0 } })
  expect(rome.content).toMatchObject([{ type: 'tool_use', input: { city: 'Rome' } }])
  expect(textOf(await client.answer(rome, () => 'warm'))).toBe('Two.')
  const again = await client.ask('What was the second?')
  expect(again).toMatchObject({ stop_reason: 'end_turn', container: { id: oslo.container?.id } })
  expect(again.content[1]).toMatchObject({ type: 'code_execution_tool_result', content: { stdout: 'warm\n' } })
  // The client's messages are those of the conversation: none was replaced.
  expect(await activitySummaries(served.env)).not.toContainEqual(expect.stringMatching(/^store \d+ messages?/))
})

it('makes direct calls, and gives errors of a client to the model and to code', async () => {
  const caught = 'try:\n  await get_weather(city="Oslo")\nexcept ToolError as error:\n  print("caught", error)'
  const { served, client } = await start(
    turn(text('Both.'), code(caught), call('lookup', { id: 7 })),
    turn(text('{{last_tool_result}}')),
  )
  client.params.tools?.push({
    name: 'lookup',
    input_schema: { type: 'object', properties: { id: { type: 'integer' } } },
  })
  const paused = await client.ask('Go.')
  expect(paused.content).toMatchObject([
    { type: 'text' },
    { type: 'server_tool_use' },
    { type: 'tool_use', name: 'lookup', input: { id: 7 }, caller: { type: 'direct' } },
    { type: 'tool_use', name: 'get_weather', caller: { type: 'code_execution_20260120' } },
  ])
  const done = await client.answer(paused, ({ name }) => ({ error: `no ${name} today` }))
  expect(done.content[0]).toMatchObject({ content: { stdout: 'caught no get_weather today\n' } })
  expect(textOf(done)).toContain('no lookup today')
  expect(served.env.api.requests[0]?.body).toMatchObject({
    tools: [{ name: 'execute_code' }, { name: 'lookup' }, { name: 'read_more' }],
  })
})

it('continues when a direct call has failed and the code makes another call', async () => {
  const source = 'print(await get_weather(city="Oslo"), await get_weather(city="Rome"))'
  const { client } = await start(turn(code(source), call('lookup')), turn(text('{{last_tool_result}}')))
  client.params.tools?.push({ name: 'lookup', input_schema: { type: 'object' } })
  const paused = await client.ask('Go.')
  const rome = await client.answer(paused, ({ name }) => (name === 'lookup' ? { error: 'no lookup' } : 'cold'))
  expect(toolUses(rome)).toMatchObject([{ name: 'get_weather', input: { city: 'Rome' } }])
  const done = await client.answer(rome, () => 'warm')
  expect(done.content).toMatchObject([
    { content: { stdout: 'cold warm\n' } },
    { text: expect.stringContaining('no lookup') as string },
  ])
})

it('gives a repeated request the same response, and makes no call twice', async () => {
  const { served, client } = await start(turn(code(gathered)), turn(text('It is 30.')))
  const other = await served.server()
  const paused = await client.ask('How warm is it?')
  const done = await client.answer(paused, degrees)
  client.use(other.url)
  expect(await client.repeat()).toEqual({ ...done, container: expect.anything() as unknown })
  expect(served.env.api.requests).toHaveLength(2)
  // Repeats the first request with the container that now exists.
  client.messages.splice(2)
  expect(await client.repeat()).toEqual(paused)
  expect(served.env.api.requests).toHaveLength(2)
})

it('accepts results after a server that accepted only some of them has died', async () => {
  const source = `
async def chain():
  return await get_weather(city="Rome after " + await get_weather(city="Oslo"))
print(*await asyncio.gather(chain(), get_weather(city="Bern")))`
  const { served, client } = await start(turn(code(source)), turn(text('Done.')))
  const paused = await client.ask('Go.')
  const handle = served.ptc.handle(served.ptc.conversation(client.container ?? '').workflowId)
  const calls = async () => (await handle.tree()).turns.flatMap(({ cells }) => cells.flatMap((cell) => cell.calls))
  const [oslo] = await calls()
  await served.ptc.completeCall(oslo?.deferred?.completionToken ?? '', 'cold')
  await expect.poll(async () => (await calls()).length).toBe(3)
  const rome = await client.answer(paused, () => 'cold')
  expect(toolUses(rome)).toMatchObject([{ input: { city: 'Rome after cold' } }])
  expect((await client.answer(rome, () => 'warm')).content[0]).toMatchObject({ content: { stdout: 'warm cold\n' } })
})

it('replaces the messages of a container when those of its client differ', async () => {
  const { served, client } = await start(turn(code('x = 1\nprint(x)')), turn(text('One.')), turn(text('Fine.')))
  await client.ask('Run.')
  client.messages.splice(0, 1, { role: 'user', content: 'Another question.' })
  expect(textOf(await client.ask('And?'))).toBe('Fine.')
  expect(await activitySummaries(served.env)).toContain('store 4 messages')
  const sent = served.env.api.requests.at(-1)?.body as { readonly messages: Anthropic.MessageParam[] }
  expect(sent.messages).toMatchObject([
    { role: 'user', content: [{ text: 'Another question.' }] },
    { role: 'assistant', content: [{ type: 'tool_use', name: 'execute_code', input: { code: 'x = 1\nprint(x)' } }] },
    { role: 'user', content: [{ type: 'tool_result', content: '1' }] },
    { role: 'assistant', content: [{ type: 'text', text: 'One.' }] },
    { role: 'user', content: [{ type: 'text', text: 'And?' }] },
  ])
})

it('streams events that the accumulator of the SDK accepts', async () => {
  const { client } = await start(turn(text('I add.'), code(gathered)), turn(text('It is 30.')))
  const paused = await client.ask('How warm is it?')
  const { types, message } = await client.stream()
  expect(message).toEqual({ ...paused, parsed_output: null })
  expect(types).toEqual([
    'message_start',
    ...Array.from({ length: 4 }, () => ['content_block_start', 'content_block_delta', 'content_block_stop']).flat(),
    'message_delta',
    'message_stop',
  ])
  const done = await client.answer(message, degrees)
  expect((await client.stream()).message).toEqual({
    ...done,
    parsed_output: null,
    container: expect.anything() as unknown,
  })
})

it('a container survives the end of its server, its workers and its sandbox while a call waits', async () => {
  const { served, client } = await start(turn(code(gathered)), turn(text('It is 30.')))
  const paused = await client.ask('How warm is it?')
  const { workflowId } = served.ptc.conversation(client.container ?? '')
  const handle = served.env.client.workflow.getHandle(workflowId)
  await served.env.workers.stop()
  await served.env.killContainers(handle)
  await served.env.workers.start({})
  client.use((await served.server()).url)
  expect(textOf(await client.answer(paused, degrees))).toBe('It is 30.')
  await served.ptc.conversation(client.container ?? '').close()
  await served.env.expectCleanEnd(handle)
})

it('the Messages API needs the token of the server, as a key or as a bearer token', async () => {
  const served = await ServeEnvironment.start({ script: [turn(text('Hello.'))] })
  const { url } = await served.server({ token: 'secret' })
  const body = {
    model: 'scripted',
    max_tokens: 100,
    tools: [codeTool],
    messages: [{ role: 'user' as const, content: 'Hi.' }],
  }
  await expect(officialSdk(url, 'wrong').messages.create(body)).rejects.toMatchObject({
    status: 401,
    error: { type: 'error', error: { type: 'authentication_error' } },
  })
  expect(textOf(await new MessagesClient(served, url, [], 'secret').ask('Hi.'))).toBe('Hello.')
})
