import Anthropic from '@anthropic-ai/sdk'
import { expect, it } from 'vitest'
import { code, text, turn } from '../../support/script.js'
import { ServeEnvironment } from '../../support/serve/serve-environment.js'

const codeTool = { type: 'code_execution_20260120', name: 'code_execution' } as const

const weather: Anthropic.Tool = {
  name: 'get_weather',
  description: 'The weather of a city, as JSON.',
  input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
  allowed_callers: ['code_execution_20260120'],
}

const source = `
import json
first, second = await asyncio.gather(get_weather({"city": "Oslo"}), get_weather(city="Rome"))
total = json.loads(first)["degrees"] + json.loads(second)["degrees"]
print(total)`

function client(url: string): Anthropic {
  return new Anthropic({ baseURL: url, apiKey: 'any', maxRetries: 0 })
}

const base = { model: 'scripted', max_tokens: 1_000, tools: [codeTool, weather] }

it('runs code in a sandbox of ours for a client of the official API', async () => {
  const served = await ServeEnvironment.start({
    script: [turn(text('I add.'), code(source)), turn(text('It is 30.'))],
  })
  const { url } = await served.server()
  const api = client(url)
  const question: Anthropic.MessageParam = { role: 'user', content: 'How warm is it?' }
  const first = await api.messages.create({ ...base, messages: [question] })
  expect(first).toMatchObject({
    type: 'message',
    role: 'assistant',
    stop_reason: 'tool_use',
    container: { id: expect.stringMatching(/^container_/) as string },
  })
  const [said, run, ...calls] = first.content
  expect(said).toMatchObject({ type: 'text', text: 'I add.' })
  expect(run).toMatchObject({ type: 'server_tool_use', name: 'code_execution', input: { code: source } })
  const tool_id = run?.type === 'server_tool_use' ? run.id : ''
  const caller = { type: 'code_execution_20260120', tool_id }
  expect(calls).toMatchObject([
    { type: 'tool_use', name: 'get_weather', input: { city: 'Oslo' }, caller },
    { type: 'tool_use', name: 'get_weather', input: { city: 'Rome' }, caller },
  ])
  const results = calls.flatMap((call) =>
    call.type === 'tool_use' ? [{ type: 'tool_result' as const, tool_use_id: call.id, content: '{"degrees": 15}' }] : [],
  )
  const second = await api.messages.create({
    ...base,
    container: first.container?.id ?? null,
    messages: [question, { role: 'assistant', content: first.content }, { role: 'user', content: results }],
  })
  expect(second).toMatchObject({
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
