import { describe, expect, it } from 'vitest'
import { checkCodeCalls } from './check-code-calls.js'
import { requestSchema } from './request-schema.js'

const schema = requestSchema([]).messages['2026-10-21']
const schemaOfPay = { type: 'object' }
const pay = { name: 'pay', input_schema: schemaOfPay, allowed_callers: ['code_execution_20260120'] }
const codeTool = { type: 'code_execution_20260120', name: 'code_execution' }
const caller = { type: 'code_execution_20260120', tool_id: 'srvtoolu_1' }
const question = { role: 'user', content: 'Pay.' }
const paused = {
  role: 'assistant',
  content: [
    { type: 'server_tool_use', id: 'srvtoolu_1', name: 'code_execution', input: { code: 'await pay({})' } },
    { type: 'tool_use', id: 'toolu_1', name: 'pay', input: {}, caller },
  ],
}
const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: '1' }
const ended = {
  role: 'assistant',
  content: [
    {
      type: 'code_execution_tool_result',
      tool_use_id: 'srvtoolu_1',
      content: { type: 'code_execution_result', stdout: '', stderr: '', return_code: 0, content: [] },
    },
  ],
}
const answered = { role: 'user', content: [result] }

/** A container that exists and one that has expired. */
const expiries = new Map([
  ['container_1', Date.parse('2999-01-01')],
  ['container_0', 0],
])

function check(change: object): void {
  const body = { model: 'm', max_tokens: 1, tools: [codeTool, pay], messages: [question], ...change }
  checkCodeCalls(schema.parse(body), (id) => expiries.get(id))
}

describe('accepted requests', () => {
  it.each([
    ['the first request', {}],
    ['results for code, with its container', { messages: [question, paused, answered], container: 'container_1' }],
    ['the container as an object', { messages: [question, paused, answered], container: { id: 'container_1' } }],
    ['a text after code that has ended', { messages: [question, paused, answered, ended, question] }],
  ])('the scripted server accepts %s', (_what, change) => {
    expect(() => check(change)).not.toThrow()
  })
})

describe('rejected requests', () => {
  const waiting = { messages: [question, paused, answered], container: 'container_1' }
  const image = { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } }
  it.each([
    ['results without the container', { ...waiting, container: null }, 'container_id is required'],
    ['an unknown container', { ...waiting, container: 'container_9' }, 'no container container_9 was found'],
    ['an expired container', { ...waiting, container: 'container_0' }, 'container_0 has expired'],
    [
      'a text beside results',
      { ...waiting, messages: [question, paused, { role: 'user', content: [result, { type: 'text', text: 'So?' }] }] },
      'messages.2: only `tool_result` blocks',
    ],
    [
      'an image as a result',
      { ...waiting, messages: [question, paused, { role: 'user', content: [{ ...result, content: [image] }] }] },
      'can only have `text` blocks',
    ],
    ['a result of code that never began', { messages: [question, ended, question] }, 'without its server_tool_use'],
    ['callers without the tool for code', { tools: [pay] }, 'not among the tools'],
    ['a strict tool for code', { tools: [codeTool, { ...pay, strict: true }] }, 'pay is strict'],
    [
      'a recursive schema for code',
      { tools: [codeTool, { ...pay, input_schema: { type: 'object', properties: { a: { $ref: '#' } } } }] },
      'Circular $ref detected',
    ],
    ['a forced call of a tool for code only', { tool_choice: { type: 'tool', name: 'pay' } }, 'does not allow direct'],
    [
      'calls that are not parallel',
      { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
      'disable_parallel_tool_use',
    ],
  ])('the scripted server rejects %s', (_what, change, message) => {
    expect(() => check(change)).toThrow(message)
  })
})
