import { expect, it } from 'vitest'
import { defineAgent } from '../../../src/agents/index.js'
import type { JsonObject } from '../../../src/common/json/json.js'
import { requestMessages, TestEnvironment } from '../../support/environment/test-environment.js'
import { answerResult, call, text, turn } from '../../support/script.js'
import { tool } from '../../support/tools.js'
import { isolateTests } from './harness.js'
import { createProvider, request, startStreamingServer } from './openai-harness.js'
import { event, message, replyOf } from './responses-harness.js'
import { neverAborted } from './harness.js'

isolateTests()

const search = { type: 'web_search_20260318', name: 'web_search', max_uses: 2 }
const use = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'travel 2026' } }
const result = {
  type: 'web_search_tool_result',
  tool_use_id: 'srvtoolu_1',
  content: [
    {
      type: 'web_search_result',
      url: 'https://example.com',
      title: 'Travel',
      encrypted_content: 'ZW5j+/==',
      page_age: null,
    },
  ],
}

it('a paused search of the server continues, its blocks are kept unchanged, and tools of the run follow', async () => {
  const env = await TestEnvironment.start({
    tools: [tool('ping', () => 'pong', { allowedCallers: ['direct'] })],
    model: { serverTools: { anthropic: [search] } },
    script: [
      { reply: { content: [text('I search.'), use], stop_reason: 'pause_turn' } },
      turn(result, text('Found.'), call('ping')),
      answerResult,
    ],
  })
  expect(await env.runAgent()).toMatchObject({ status: 'answered', answer: 'pong', turns: 3, toolCalls: 1 })
  const bodies = env.api.requests.map(({ body }) => body as { readonly tools: readonly JsonObject[] })
  expect(bodies.map(({ tools }) => tools[0])).toEqual([search, search, search])
  expect(bodies[0]?.tools.map(({ name }) => name)).toEqual(['web_search', 'execute_code', 'ping', 'read_more'])
  const replies = requestMessages(bodies[2]).filter(({ role }) => role === 'assistant')
  const blocks = replies.flatMap(({ content }) => content as readonly JsonObject[])
  expect(blocks.map((block) => JSON.stringify(block)).slice(0, 4)).toEqual(
    [text('I search.'), use, result, text('Found.')].map((block) => JSON.stringify(block)),
  )
  expect(requestMessages(bodies[1]).at(-1)).toMatchObject({ role: 'assistant' })
})

it('an agent has its own server tools, or none', async () => {
  const fetch = { type: 'web_fetch_20260318', name: 'web_fetch' }
  const agents = [
    defineAgent({ name: 'reader', instructions: 'Read.', tools: [], serverTools: { anthropic: [fetch] } }),
    defineAgent({ name: 'offline', instructions: 'Think.', tools: [], serverTools: {} }),
  ]
  const env = await TestEnvironment.start({
    agents,
    model: { serverTools: { anthropic: [search] } },
    script: [turn(text('Done.'))],
  })
  await env.runAgent({ agent: 'reader' })
  await env.runAgent({ agent: 'offline' })
  const names = env.api.requests.map(({ body }) =>
    (body as { tools: readonly JsonObject[] }).tools.map((each) => each['name']),
  )
  expect(names).toEqual([
    ['web_fetch', 'execute_code', 'read_more'],
    ['execute_code', 'read_more'],
  ])
})

it('the responses API has its own server tools, whose calls are sent back unchanged', async () => {
  const item = { id: 'ws_1', type: 'web_search_call', status: 'completed', action: { type: 'search', query: 'travel' } }
  const searched = {
    item,
    events: (output_index: number) =>
      event('response.output_item.added', { output_index, item: { ...item, status: 'in_progress' } }) +
      event('response.web_search_call.searching', { output_index, item_id: 'ws_1' }) +
      event('response.output_item.done', { output_index, item }),
  }
  const server = await startStreamingServer(replyOf(searched, message('Found.')))
  const provider = createProvider({ api: 'responses', baseURL: server.url })
  const options = { signal: neverAborted, onProgress: () => undefined }
  const serverTools = [{ type: 'web_search' }]
  const { content, stopReason } = await provider.turn({ ...request, serverTools }, options)
  expect(stopReason).toBe('end_turn')
  await provider.turn({ ...request, messages: [...request.messages, { role: 'assistant', content }] }, options)
  const [first, second] = server.requests.map(({ body }) => body)
  expect(first).toMatchObject({ tools: [{ name: 'add' }, ...serverTools] })
  expect(second).toMatchObject({
    input: [{ role: 'user' }, item, { role: 'assistant', content: [{ text: 'Found.' }] }],
  })
})
