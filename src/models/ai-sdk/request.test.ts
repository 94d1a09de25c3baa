import { expect, it } from 'vitest'
import type { UserBlock } from '../../common/runs/messages.js'
import type { ModelRequest } from '../provider.js'
import { isOwnServer } from './options.js'
import { toParams } from './request.js'
import { toResponseParams } from './responses/request.js'

const base: ModelRequest = { model: 'm', maxTokens: 10, system: '', tools: [], messages: [] }
const dialect = { tokenLimit: 'max_tokens', includesUsage: false } as const
const send = (request: Partial<ModelRequest>) => toParams('openai', { ...base, ...request }, dialect)
const source = (media_type: string) => ({ type: 'base64', media_type, data: 'AAAA' }) as const

it('sends images and documents before the text, and after the results of tools', () => {
  const content: readonly UserBlock[] = [
    { type: 'tool_result', tool_use_id: 't', content: 'x' },
    { type: 'image', source: source('image/png') },
    { type: 'document', source: source('application/pdf'), title: 'Q3.pdf' },
    { type: 'document', source: source('application/pdf') },
    { type: 'text', text: 'What' },
    { type: 'text', text: 'is it?' },
  ]
  expect(send({ messages: [{ role: 'user', content }] }).messages).toEqual([
    { role: 'tool', tool_call_id: 't', content: 'x' },
    {
      role: 'user',
      content: [
        { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
        { type: 'file', file: { filename: 'Q3.pdf', file_data: 'data:application/pdf;base64,AAAA' } },
        { type: 'file', file: { filename: 'document.pdf', file_data: 'data:application/pdf;base64,AAAA' } },
        { type: 'text', text: 'What\n\nis it?' },
      ],
    },
  ])
})

it.each([
  [{ effort: 'high', thinking: 'adaptive' }, { reasoning_effort: 'high' }],
  [{ effort: 'high', thinking: 'off' }, { reasoning_effort: 'none' }],
  [{ thinking: { budgetTokens: 2_000 } }, {}],
  [{ temperature: 0 }, { temperature: 0 }],
] as const)('sends the model settings %j as %j to chat completions', (settings, sent) => {
  expect(send(settings)).toEqual({ model: 'm', max_tokens: 10, stream: true, messages: [], ...sent })
})

it('describes the tools in the system message for servers that may ignore them', () => {
  const tools = [{ name: 'pay', description: 'Pays.', inputSchema: { type: 'object' }, inputExamples: [{ to: 'ada' }] }]
  const request = { ...base, system: 'Be brief.', tools }
  const [system] = toParams('openai', request, { ...dialect, toolsInSystemPrompt: true }).messages
  expect(system).toMatchObject({ role: 'system', content: expect.stringMatching(/^Be brief\.\n\n# Tools/) as string })
  for (const part of ['## pay', 'Pays.', '{"to":"ada"}', '{"type":"object"}']) expect(system?.content).toContain(part)
  expect(send({ system: 'Be brief.', tools }).messages).toEqual([{ role: 'system', content: 'Be brief.' }])
  expect(toParams('openai', base, { ...dialect, toolsInSystemPrompt: true }).messages).toEqual([])
})

it.each([
  ['http://localhost:11434/v1', true],
  ['HTTP://10.0.0.7:8000/v1', true],
  ['https://api.mistral.ai/v1', false],
  [undefined, false],
])('counts %s as a server of the user: %s', (baseURL, isOwn) => {
  expect(isOwnServer(baseURL)).toBe(isOwn)
})

const tools = [{ name: 'ask', description: 'x', inputSchema: { type: 'object' }, inputExamples: [] }]

it.each([
  [
    { type: 'auto', isSingle: true },
    { tool_choice: 'auto', parallel_tool_calls: false },
  ],
  [{ type: 'any' }, { tool_choice: 'required' }],
  [{ type: 'none' }, { tool_choice: 'none' }],
] as const)('sends the tool choice %j to both APIs as %j', (toolChoice, sent) => {
  expect(send({ tools, toolChoice })).toMatchObject(sent)
  expect(toResponseParams('openai', { ...base, tools, toolChoice }, { includesReasoning: false })).toMatchObject(sent)
  expect(send({ toolChoice })).not.toHaveProperty('tool_choice')
})

it('sends the choice of a certain tool, and stop sequences if the API has them', () => {
  const request = { tools, toolChoice: { type: 'tool', name: 'ask' } } as const
  expect(send({ ...request, stopSequences: ['END'] })).toMatchObject({
    stop: ['END'],
    tool_choice: { type: 'function', function: { name: 'ask' } },
  })
  const responses = (more: Partial<ModelRequest>) =>
    toResponseParams('openai', { ...base, ...request, ...more }, { includesReasoning: false })
  expect(responses({})).toMatchObject({ tool_choice: { type: 'function', name: 'ask' } })
  expect(() => responses({ stopSequences: ['END'] })).toThrow(expect.objectContaining({ code: 'MODEL_BAD_REQUEST' }))
})

it('sends the URL of an image, and refuses other media without data', () => {
  const blockOf = (type: string, kind: string) =>
    ({ type, source: { type: kind, url: 'https://example.com/a' } }) as unknown as UserBlock
  const sendBlock = (block: UserBlock) => send({ messages: [{ role: 'user', content: [block] }] }).messages
  expect(sendBlock(blockOf('image', 'url'))).toEqual([
    { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://example.com/a' } }] },
  ])
  expect(() => sendBlock(blockOf('document', 'url'))).toThrow('a document from a source of type url')
  expect(() => sendBlock(blockOf('image', 'file'))).toThrow('an image from a source of type file')
})
