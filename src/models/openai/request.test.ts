import { expect, it } from 'vitest'
import type { UserBlock } from '../../common/runs/messages.js'
import type { ModelRequest } from '../provider.js'
import { isOwnServer } from './options.js'
import { toParams } from './request.js'

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
] as const)('sends the settings %j as %j', (settings, sent) => {
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
])('takes %s for a server of its own: %s', (baseURL, isOwn) => {
  expect(isOwnServer(baseURL)).toBe(isOwn)
})
