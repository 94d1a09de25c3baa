import { beforeEach, describe, expect, it } from 'vitest'
import type { ModelRequest } from '../../../src/models/provider.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { tool } from '../../support/tools.js'
import {
  frames,
  messageEnd,
  messageStart,
  startEventStream,
  stubAwsCredentials,
} from '../../integration/models/bedrock-harness.js'
import { isolateTests, neverAborted, request, startServer } from '../../integration/models/harness.js'
import { wireFormats } from '../../integration/models/wire-formats.js'

// The table in docs/guides/models.md lists the results of these tests.
isolateTests()
beforeEach(stubAwsCredentials)

const formats = Object.entries(wireFormats)
const options = { signal: neverAborted, onProgress: () => undefined }
const ephemeral = { type: 'ephemeral' }

const media: ModelRequest['messages'] = [
  {
    role: 'user',
    content: [
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'BBBB' }, title: 'Q3.pdf' },
      { type: 'text', text: 'What is it?' },
    ],
  },
]

/** The body of a request with all settings, a server tool, an image and a PDF. */
async function sentBy(name: keyof typeof wireFormats, settings: Partial<ModelRequest>) {
  const { provider, answer } = wireFormats[name]
  const server = await startServer((response) => answer(response, 'Hello'))
  const serverTools = [{ type: 'web_search_20260318', name: 'web_search' }]
  const { content } = await provider(server.url).turn(
    { ...request, messages: media, serverTools, ...settings },
    options,
  )
  expect(content.at(-1)).toEqual({ type: 'text', text: 'Hello' })
  return server.requests[0]
}

describe('a request', () => {
  it.each([
    ['anthropic', undefined],
    ['bedrock', 'bedrock-2023-05-31'],
  ] as const)('a request to %s has all settings, media and server tools, and is cached', async (name, version) => {
    const sent = await sentBy(name, { temperature: 0, thinking: 'off', effort: 'low' })
    if (version === undefined) expect(sent?.headers['anthropic-version']).toBe('2023-06-01')
    else expect(sent?.body).toMatchObject({ anthropic_version: version })
    expect(sent?.body).toMatchObject({
      temperature: 0,
      thinking: { type: 'disabled' },
      output_config: { effort: 'low' },
      system: [{ cache_control: ephemeral }],
      tools: [{ name: 'web_search' }, { name: 'add', cache_control: ephemeral }],
      messages: [
        {
          role: 'user',
          content: [
            { type: 'image', source: { media_type: 'image/png', data: 'AAAA' } },
            { type: 'document', source: { media_type: 'application/pdf', data: 'BBBB' }, title: 'Q3.pdf' },
            { type: 'text', text: 'What is it?', cache_control: ephemeral },
          ],
        },
      ],
    })
    const thinking = await sentBy(name, { thinking: { budgetTokens: 2_000 }, maxTokens: 4_000 })
    expect(thinking?.body).toMatchObject({ thinking: { type: 'enabled', budget_tokens: 2_000 } })
    // The version is the SDK's own.
    expect(thinking?.headers['anthropic-version'] ?? thinking?.body['anthropic_version']).toBe('2026-10-21')
  })

  it('a request for chat completions has temperature, effort, media and server tools', async () => {
    const sent = await sentBy('chat', { temperature: 0, effort: 'low' })
    expect(sent?.body).toMatchObject({
      temperature: 0,
      reasoning_effort: 'low',
      tools: [{ function: { name: 'add' } }, { name: 'web_search' }],
      messages: [
        { role: 'system' },
        {
          role: 'user',
          content: [
            { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } },
            { type: 'file', file: { filename: 'Q3.pdf', file_data: 'data:application/pdf;base64,BBBB' } },
            { type: 'text', text: 'What is it?' },
          ],
        },
      ],
    })
    expect((await sentBy('chat', { thinking: 'off' }))?.body).toMatchObject({ reasoning_effort: 'none' })
  })

  it('a request for the responses API has temperature, effort, media and server tools', async () => {
    const sent = await sentBy('responses', { temperature: 0, effort: 'low' })
    expect(sent?.body).toMatchObject({
      temperature: 0,
      reasoning: { effort: 'low' },
      tools: [{ name: 'add' }, { name: 'web_search' }],
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
            { type: 'input_file', filename: 'Q3.pdf', file_data: 'data:application/pdf;base64,BBBB' },
            { type: 'input_text', text: 'What is it?' },
          ],
        },
      ],
    })
  })
})

it.each([
  ['anthropic', '/v1/messages/count_tokens'],
  ['responses', '/responses/input_tokens'],
] as const)('the token counter of %s counts the prompt', async (name, path) => {
  const server = await startServer((response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ object: 'response.input_tokens', input_tokens: 123 }))
  })
  const tokens = await wireFormats[name].provider(server.url).countTokens?.(request, options)
  expect(tokens).toBe(123)
  const [counted] = server.requests
  expect(counted?.url).toBe(path)
  expect(counted?.body).toMatchObject({ model: request.model, tools: [{ name: 'add' }] })
  for (const member of ['stream', 'store', 'include', 'max_tokens', 'max_output_tokens'])
    expect(counted?.body).not.toHaveProperty(member)
})

it('Bedrock and chat completions have no token counter', () => {
  for (const name of ['bedrock', 'chat'] as const)
    expect(wireFormats[name].provider('http://127.0.0.1:9')).not.toHaveProperty('countTokens')
})

describe.each(formats)('a run by %s', (_name, format) => {
  const start = (url: string, maxTokens = 1_000) =>
    TestEnvironment.start({
      tools: [tool('book', () => 'x'.repeat(5_000))],
      providers: { other: format.option(url) },
      model: { name: 'other/m', maxTokens },
    })

  it('compacts the messages of a run when they are too long, and repeats the turn', async () => {
    const server = await startServer((response, { body }) => {
      const text = JSON.stringify(body)
      if (text.includes('<transcript>')) return format.answer(response, 'notes')
      if (text.includes('were removed')) return format.answer(response, 'Done.')
      const { length } = server.requests
      if (length < 7) return format.call(response, 'book', `call_${length}`)
      return format.refuse(response, format.tooLong)
    })
    const env = await start(server.url)
    expect(await env.runAgent()).toMatchObject({ status: 'answered', answer: 'Done.', turns: 8, toolCalls: 6 })
    expect((await env.activities()).map(({ type }) => type)).toContain('model.compact')
  })

  it('repeats a reply that was truncated in its code with twice the limit, and runs none of it', async () => {
    const server = await startServer((response) => {
      if (server.requests.length === 1) format.truncated(response)
      else format.answer(response, 'Done.')
    })
    const env = await start(server.url)
    expect(await env.runAgent()).toMatchObject({ status: 'answered', answer: 'Done.', turns: 2, cells: 0 })
    expect(server.requests.map(({ body }) => body[format.limit])).toEqual([1_000, 2_000])
    expect(JSON.stringify(server.requests[1]?.body)).not.toContain('delete_every')
  })

  it('repeats a truncated reply with the limit of the model, when that is less than twice the limit', async () => {
    const server = await startServer((response, { body }) => {
      if (Number(body[format.limit]) > 1_500) format.refuse(response, format.overLimit)
      else if (server.requests.length === 1) format.truncated(response)
      else format.answer(response, 'Done.')
    })
    const env = await start(server.url)
    expect(await env.runAgent()).toMatchObject({ status: 'answered', answer: 'Done.', turns: 2 })
    expect(server.requests.map(({ body }) => body[format.limit])).toEqual([1_000, 2_000, 1_500])
  })
})

it('a run with Bedrock sends thinking and blocks of server tools back unchanged', async () => {
  const thinking = { type: 'thinking', thinking: 'Hm "so" \u{1F600}', signature: 'c2ln+/==' }
  const redacted = { type: 'redacted_thinking', data: 'b3BhcXVl+/==' }
  const used = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'x' } }
  const found = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }
  const started = (index: number, content_block: object) => [
    { type: 'content_block_start', index, content_block },
    { type: 'content_block_stop', index },
  ]
  const call = { type: 'tool_use', id: 'toolu_bdrk_1', name: 'book', input: {} }
  const { bedrock } = wireFormats
  const server = await startServer((response) => {
    if (server.requests.length > 1) return bedrock.answer(response, 'Done.')
    startEventStream(response)
    const blocks = [thinking, redacted, used, found, call].flatMap((block, index) => started(index, block))
    response.end(frames(messageStart, ...blocks, ...messageEnd('tool_use')))
  })
  const env = await TestEnvironment.start({
    tools: [tool('book', () => 'booked')],
    providers: { other: bedrock.option(server.url) },
  })
  const input = { model: 'other/m', thinking: 'adaptive', effort: 'high' } as const
  expect(await env.runAgent(input)).toMatchObject({ status: 'answered', turns: 2 })
  const messages = server.requests[1]?.body['messages'] as readonly { readonly content: readonly unknown[] }[]
  const [, reply] = messages
  expect(JSON.stringify(reply?.content.slice(0, 4))).toBe(JSON.stringify([thinking, redacted, used, found]))
  expect(reply?.content[4]).toEqual({ ...call, id: expect.stringMatching(/^[A-Za-z0-9]{9}$/) as string })
  expect(server.requests.map(({ body }) => [body['thinking'], body['output_config']])).toEqual([
    [{ type: 'adaptive' }, { effort: 'high' }],
    [{ type: 'adaptive' }, { effort: 'high' }],
  ])
})
