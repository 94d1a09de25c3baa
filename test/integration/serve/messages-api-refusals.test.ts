import type Anthropic from '@anthropic-ai/sdk'
import { expect, it } from 'vitest'
import { code, faulty, text, turn } from '../../support/script.js'
import { codeTool, MessagesClient, textOf, toolUses } from '../../support/serve/messages-client.js'
import { ServeEnvironment } from '../../support/serve/serve-environment.js'

const ask: Anthropic.Tool = {
  name: 'ask',
  input_schema: { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'] },
  allowed_callers: ['code_execution_20260120'],
}

const question = { role: 'user', content: 'Hi.' }
const valid = { model: 'scripted', max_tokens: 100, tools: [codeTool, ask], messages: [question] }

async function post(url: string, body: object) {
  const response = await fetch(`${url}/v1/messages`, { method: 'POST', body: JSON.stringify(body) })
  return { status: response.status, body: (await response.json()) as Anthropic.ErrorResponse }
}

const named = (name: string, more: object = {}) => ({ ...valid, tools: [codeTool, { ...ask, name, ...more }] })
const schema = (input_schema: unknown) => ({ ...valid, tools: [codeTool, { ...ask, input_schema }] })
const last = (...content: object[]) => ({ ...valid, messages: [{ role: 'user', content }] })
const deep = (depth: number): object => (depth === 0 ? {} : { type: 'object', properties: { a: deep(depth - 1) } })

const refusals: readonly (readonly [string, object, string])[] = [
  ['no model', { ...valid, model: undefined }, 'model'],
  ['no max_tokens', { ...valid, max_tokens: undefined }, 'max_tokens'],
  ['no messages', { ...valid, messages: [] }, 'messages'],
  ['an unknown field', { ...valid, extra: 1 }, 'extra'],
  ['a network', { ...valid, network: { allow: ['a.test'] } }, 'network'],
  ['top_k', { ...valid, top_k: 5 }, 'top_k'],
  ['a forced tool', { ...valid, tool_choice: { type: 'tool', name: 'ask' } }, 'tool_choice'],
  ['no parallel use', { ...valid, tool_choice: { type: 'auto', disable_parallel_tool_use: true } }, 'tool_choice'],
  ['no code execution', { ...valid, tools: [ask] }, 'code_execution'],
  ['code execution twice', { ...valid, tools: [codeTool, codeTool] }, 'code_execution'],
  [
    'another server tool',
    { ...valid, tools: [codeTool, { type: 'web_search_20250305', name: 'web_search' }] },
    'web_search',
  ],
  ['an unknown caller', named('ask', { allowed_callers: ['web'] }), 'allowed_callers'],
  ['two tools of a name', { ...valid, tools: [codeTool, ask, ask] }, 'two tools are named ask'],
  ['a name of the engine', named('execute_code'), 'code tool'],
  ['a name that objects have', named('__proto__'), 'tool name "__proto__"'],
  ['a schema of no object', schema({ type: 'string' }), 'JSON Schema'],
  ['no schema', schema(undefined), 'input_schema'],
  ['a broken reference', schema({ type: 'object', properties: { a: { $ref: '#/$defs/none' } } }), 'JSON Schema'],
  [
    'a remote reference',
    schema({ type: 'object', properties: { a: { $ref: 'https://example.com/a' } } }),
    'JSON Schema',
  ],
  ['too many bytes of tools', named('ask', { description: 'x'.repeat(300_000) }), 'bytes of JSON'],
  [
    'too many tools',
    { ...valid, tools: [codeTool, ...Array.from({ length: 101 }, (_, n) => ({ ...ask, name: `t${n}` }))] },
    'at most 100',
  ],
  ['an empty text', last({ type: 'text', text: ' ' }), 'no text'],
  ['an image by its id', last({ type: 'image', source: { type: 'file', file_id: 'file_1' } }), 'image'],
  [
    'an answer of the assistant at the end',
    { ...valid, messages: [question, { role: 'assistant', content: 'So' }] },
    'last message',
  ],
  ['results without their calls', last({ type: 'tool_result', tool_use_id: 'toolu_1', content: '' }), 'no tool_use'],
  ['a made-up container', { ...valid, container: 'container_1' }, 'container'],
  ['skills', { ...valid, container: { skills: [{ type: 'anthropic', skill_id: 'pdf' }] } }, 'container'],
  [
    'a tool use without a result',
    {
      ...valid,
      messages: [
        question,
        { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'ask', input: {} }] },
        question,
      ],
    },
    'has no result',
  ],
]

it('refuses requests that it does not support, and names the unsupported field', async () => {
  const served = await ServeEnvironment.start({ script: [turn(text('unused'))] })
  const { url } = await served.server()
  for (const [name, body, message] of refusals) {
    const reply = await post(url, body)
    expect(reply, name).toMatchObject({
      status: 400,
      body: {
        type: 'error',
        error: { type: 'invalid_request_error', message: expect.stringContaining(message) as string },
      },
    })
  }
  const absent = `container_${'0'.repeat(32)}_${'0'.repeat(24)}`
  expect(await post(url, { ...valid, container: absent })).toMatchObject({ status: 400 })
  expect(await post(`${url}/v1/other`, valid)).toMatchObject({
    status: 404,
    body: { error: { type: 'not_found_error' } },
  })
  expect(served.env.api.requests).toEqual([])
})

it('accepts schemas that are large, recursive or deep, and checks no pattern', async () => {
  const properties = { prototype: {}, constructor: { type: 'string' }, tree: { $ref: '#/$defs/tree' }, deep: deep(40) }
  const $defs = { tree: { type: 'object', properties: { left: { $ref: '#/$defs/tree' } } } }
  const slow = { type: 'string', pattern: '^(a+)+$' }
  const tool: Anthropic.Tool = {
    name: 'plant',
    description: 'x'.repeat(50_000),
    input_schema: { type: 'object', properties: { ...properties, slow }, $defs },
    allowed_callers: ['code_execution_20260120'],
  }
  const source = `print(await plant(constructor="c", tree={"left": {"left": {}}}, slow="${'a'.repeat(40)}!"))`
  const served = await ServeEnvironment.start({ script: [turn(code(source)), turn(text('Planted.'))] })
  const client = new MessagesClient(served, (await served.server()).url, [tool])
  const paused = await client.ask('Plant.')
  expect(toolUses(paused)).toMatchObject([{ name: 'plant', input: { constructor: 'c' } }])
  expect(textOf(await client.answer(paused, () => 'ok'))).toBe('Planted.')
})

it('gives the results of one container to no other, and accepts them only for all calls at once', async () => {
  const both = 'print(await asyncio.gather(ask(n=1), ask(n=2)))'
  const served = await ServeEnvironment.start({ script: [turn(code(both)), turn(text('Done.'))] })
  const { url } = await served.server()
  const [mine, other] = [new MessagesClient(served, url, [ask]), new MessagesClient(served, url, [ask])]
  const paused = await mine.ask('Go.')
  const foreign = await other.ask('Go.')
  const [first, second] = toolUses(paused)
  const send = (container: string | undefined, ...results: object[]) =>
    post(url, { ...mine.params, container, messages: [...mine.messages, { role: 'user', content: results }] })
  const result = (id: string | undefined, content: string) => ({ type: 'tool_result', tool_use_id: id, content })
  const more = { type: 'text', text: 'x' }
  const refused = (message: string) => ({
    status: 400,
    body: { error: { message: expect.stringContaining(message) as string } },
  })

  expect(await send(other.container, result(first?.id, 'a'), result(second?.id, 'b'))).toMatchObject(
    refused('has made no call'),
  )
  expect(await send(mine.container, result(toolUses(foreign)[0]?.id, 'a'))).toMatchObject(refused('has made no call'))
  expect(await send(mine.container, result(first?.id, 'a'))).toMatchObject(refused('has no tool_result'))
  expect(await send(mine.container, result(first?.id, 'a'), result(first?.id, 'b'))).toMatchObject(
    refused('two results'),
  )
  expect(await send(mine.container, result(first?.id, 'a'), result(second?.id, 'b'), more)).toMatchObject(
    refused('nothing else'),
  )
  const image = { type: 'tool_result', tool_use_id: first?.id, content: [{ type: 'image' }] }
  expect(await send(mine.container, image, result(second?.id, 'b'))).toMatchObject(refused('texts only'))
  expect(await post(url, { ...mine.params, container: mine.container, messages: [question] })).toMatchObject(
    refused('waits'),
  )
  expect(
    await post(url, { ...mine.params, max_tokens: 7, container: mine.container, messages: [question] }),
  ).toMatchObject(refused('max_tokens'))
  expect(
    await post(url, { ...mine.params, tools: [codeTool], container: mine.container, messages: [question] }),
  ).toMatchObject(refused('other tools'))

  const answers = await Promise.all([
    send(mine.container, result(first?.id, 'a'), result(second?.id, 'b')),
    send(mine.container, result(first?.id, 'a'), result(second?.id, 'b')),
  ])
  expect(answers).toMatchObject([{ status: 200, body: { stop_reason: 'end_turn' } }, { status: 200 }])
  expect(answers[0]?.body).toMatchObject({ content: [{ content: { stdout: "['a', 'b']\n" } }, { text: 'Done.' }] })
  expect(await send(mine.container, result(first?.id, 'other'), result(second?.id, 'b'))).toMatchObject(
    refused('another result'),
  )
  await served.ptc.conversation(mine.container ?? '').close()
  expect(await send(mine.container, result(first?.id, 'a'), result(second?.id, 'b'))).toMatchObject({ status: 404 })
})

it('reports failures of the model with the errors of the API, and accepts the message again', async () => {
  const unauthorized = faulty([{ type: 'status', status: 401, attempt: 1 }], turn(text('Again.')))
  const served = await ServeEnvironment.start({ script: [turn(text('Hello.')), unauthorized] })
  const { url } = await served.server()
  const client = new MessagesClient(served, url, [])
  const unknown = await post(url, { ...client.params, messages: [question], model: 'nobody/scripted' })
  expect(unknown).toMatchObject({ status: 404, body: { error: { type: 'not_found_error' } } })
  await client.ask('Hi.')
  await expect(client.ask('More?')).rejects.toMatchObject({ status: 500, error: { error: { type: 'api_error' } } })
  client.messages.push({ role: 'assistant', content: [] })
  expect(textOf(await client.repeat())).toBe('Again.')
  expect(served.env.api.requests).toHaveLength(3)
})

it('reports why a message ended without an answer, also when the model was not called', async () => {
  const served = await ServeEnvironment.start({
    script: [turn(text('Hello.')), turn(text('never'))],
    budget: { turns: 1, whenSpent: 'end' },
  })
  const client = new MessagesClient(served, (await served.server()).url, [])
  await client.ask('Hi.')
  await expect(client.ask('More?')).rejects.toMatchObject({
    status: 500,
    error: { error: { type: 'api_error', message: expect.stringContaining('budget_spent') as string } },
  })
  expect(served.env.api.requests).toHaveLength(1)
})
