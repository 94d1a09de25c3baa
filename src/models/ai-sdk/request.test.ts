import { expect, it } from 'vitest'
import { stubbedTurn } from '../../../test/support/models/stubbed-turn.js'
import type { UserBlock } from '../../common/agent/messages.js'
import type { ModelRequest } from '../provider.js'
import { type AiSdkProviderOptions, isOwnServer } from './options.js'

const chatReply = [{ choices: [{ delta: { content: 'Hi' }, finish_reason: 'stop' }] }]
const responsesReply = [{ type: 'response.completed', response: { output: [] } }]
const baseURL = 'https://models.example/v1'
const source = (media_type: string) => ({ type: 'base64', media_type, data: 'AAAA' }) as const

/** The body of a request for chat completions. */
async function send(request: Partial<ModelRequest>, options: Partial<AiSdkProviderOptions> = {}) {
  const untooled = { tools: [], ...request }
  return (await stubbedTurn({ baseURL, ...options }, chatReply, untooled)).body
}

/** The body of a request for the responses API. */
async function sendResponses(request: Partial<ModelRequest>, options: Partial<AiSdkProviderOptions> = {}) {
  return (await stubbedTurn({ baseURL, api: 'responses', ...options }, responsesReply, request)).body
}

it('sends images and documents before the text, and after the results of tools', async () => {
  const content: readonly UserBlock[] = [
    { type: 'tool_result', tool_use_id: 't', content: 'x' },
    { type: 'image', source: source('image/png') },
    { type: 'document', source: source('application/pdf'), title: 'Q3.pdf' },
    { type: 'document', source: source('application/pdf') },
    { type: 'text', text: 'What' },
    { type: 'text', text: 'is it?' },
  ]
  expect((await send({ messages: [{ role: 'user', content }] }))['messages']).toEqual([
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
] as const)('sends the model settings %j as %j to chat completions', async (settings, sent) => {
  expect(await send({ ...settings, messages: [] })).toEqual({
    model: 'm',
    max_tokens: 10,
    stream: true,
    stream_options: { include_usage: true },
    messages: [],
    ...sent,
  })
})

const tools = [{ name: 'pay', description: 'Pays.', inputSchema: { type: 'object' }, inputExamples: [{ to: 'ada' }] }]
const described = ['## pay', 'Pays.', '{"to":"ada"}', '{"type":"object"}']

it('describes the tools in the system message for servers that may ignore them', async () => {
  const systemOf = async (request: Partial<ModelRequest>, toolsInSystemPrompt: boolean) => {
    const { messages } = await send({ messages: [], ...request }, { toolsInSystemPrompt })
    return (messages as readonly { readonly role: string; readonly content: string }[])[0]
  }
  const system = await systemOf({ system: 'Be brief.', tools }, true)
  expect(system).toMatchObject({ role: 'system', content: expect.stringMatching(/^Be brief\.\n\n# Tools/) as string })
  for (const part of described) expect(system?.content).toContain(part)
  expect(await systemOf({ system: 'Be brief.', tools }, false)).toEqual({ role: 'system', content: 'Be brief.' })
  expect(await systemOf({}, true)).toBeUndefined()
})

it('describes the tools in the instructions of the responses API for servers that may ignore them', async () => {
  const sent = await sendResponses({ system: 'Be brief.', tools }, { toolsInSystemPrompt: true })
  expect(sent['instructions']).toMatch(/^Be brief\.\n\n# Tools/)
  for (const part of described) expect(sent['instructions']).toContain(part)
  expect(sent['tools']).toHaveLength(1)
  expect((await sendResponses({ system: 'Be brief.' }))['instructions']).toBe('Be brief.')
  expect(await sendResponses({ tools: [] }, { toolsInSystemPrompt: true })).not.toHaveProperty('instructions')
})

it.each([
  ['http://localhost:11434/v1', true],
  ['HTTP://10.0.0.7:8000/v1', true],
  ['https://api.mistral.ai/v1', false],
  [undefined, false],
])('counts %s as a server of the user: %s', (url, isOwn) => {
  expect(isOwnServer(url)).toBe(isOwn)
})

it.each([
  [
    { type: 'auto', isSingle: true },
    { tool_choice: 'auto', parallel_tool_calls: false },
  ],
  [{ type: 'any' }, { tool_choice: 'required' }],
  [{ type: 'none' }, { tool_choice: 'none' }],
] as const)('sends the tool choice %j to both APIs as %j', async (toolChoice, sent) => {
  expect(await send({ tools, toolChoice })).toMatchObject(sent)
  expect(await sendResponses({ tools, toolChoice })).toMatchObject(sent)
  expect(await send({ toolChoice })).not.toHaveProperty('tool_choice')
})

it('sends the choice of a certain tool, and stop sequences if the API has them', async () => {
  const request = { tools, toolChoice: { type: 'tool', name: 'pay' } } as const
  expect(await send({ ...request, stopSequences: ['END'] })).toMatchObject({
    stop: ['END'],
    tool_choice: { type: 'function', function: { name: 'pay' } },
  })
  expect(await sendResponses(request)).toMatchObject({ tool_choice: { type: 'function', name: 'pay' } })
  const refused = sendResponses({ ...request, stopSequences: ['END'] })
  await expect(refused).rejects.toMatchObject({ code: 'MODEL_BAD_REQUEST' })
})

it('sends server tools as the configuration has them', async () => {
  const serverTools = [{ type: 'web_search' }]
  expect((await send({ tools, serverTools }))['tools']).toEqual([expect.anything(), ...serverTools])
  expect((await sendResponses({ tools, serverTools }))['tools']).toEqual([expect.anything(), ...serverTools])
})

it('sends the URL of an image, and refuses other media without data', async () => {
  const blockOf = (type: string, kind: string) =>
    ({ type, source: { type: kind, url: 'https://example.com/a' } }) as unknown as UserBlock
  const sendBlock = async (block: UserBlock) =>
    (await send({ messages: [{ role: 'user', content: [block] }] }))['messages']
  expect(await sendBlock(blockOf('image', 'url'))).toEqual([
    { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://example.com/a' } }] },
  ])
  await expect(sendBlock(blockOf('document', 'url'))).rejects.toThrow('a document from a source of type url')
  await expect(sendBlock(blockOf('image', 'file'))).rejects.toThrow('an image from a source of type file')
})
