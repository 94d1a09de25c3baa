import type { ServerResponse } from 'node:http'
import { beforeEach, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/common/json/json.js'
import type { PtcConfig } from '../../../src/index.js'
import { requestMessages, TestEnvironment } from '../../support/environment/test-environment.js'
import { answerResult, call, faulty, text, turn } from '../../support/script.js'
import { tool } from '../../support/tools.js'
import { callReply, refuseRequest, startEventStream, stubAwsCredentials } from './bedrock-harness.js'
import { isolateTests, startServer } from './harness.js'
import { chunk, done, refuse, startChatStream, usageChunk } from './openai-harness.js'

isolateTests()
beforeEach(stubAwsCredentials)

const search = {
  type: 'server_tool_use',
  id: 'srvtoolu_1',
  name: 'tool_search_tool_bm25',
  input: { query: 'ask a person' },
}
const found = {
  type: 'tool_search_tool_result',
  tool_use_id: 'srvtoolu_1',
  content: {
    type: 'tool_search_tool_search_result',
    tool_references: [{ type: 'tool_reference', tool_name: 'ask_person' }],
  },
}
const findAndAsk = turn(text('I look for it.'), search, found, call('ask_person'))

/** Tools that only the model can call. There are more than are documented. */
const directTools = ['ask_person', 'sign', 'approve'].map((name) =>
  tool(name, () => `${name} ${'x'.repeat(4_000)}`, { allowedCallers: ['direct'] }),
)
const model = { documentedTools: 2 }

/** The blocks of all replies in a request. */
const replyBlocks = (body: unknown) =>
  requestMessages(body)
    .filter(({ role }) => role === 'assistant')
    .flatMap(({ content }) => content as readonly JsonObject[])
const bytesOf = (blocks: readonly object[]) => blocks.map((block) => JSON.stringify(block))
const foundBytes = bytesOf([text('I look for it.'), search, found])

const toolNames = (body: unknown) =>
  (body as { readonly tools: readonly JsonObject[] }).tools.map((each) => [
    each['name'],
    each['defer_loading'] === true,
  ])

it('leaves tools that only the model calls to the search of the API, and sends its results back unchanged', async () => {
  const env = await TestEnvironment.start({
    tools: [...directTools, tool('ping', () => 'pong')],
    model,
    script: [findAndAsk, answerResult],
  })
  expect(await env.runAgent()).toMatchObject({ status: 'answered', turns: 2, toolCalls: 1 })
  const bodies = env.api.requests.map(({ body }) => body)
  for (const body of bodies) {
    expect(toolNames(body)).toEqual([
      ['tool_search_tool_bm25', false],
      ['execute_code', false],
      ['search_tools', false],
      ['read_more', false],
      ...directTools.map(({ name }) => [name, true]),
    ])
  }
  expect(bytesOf(replyBlocks(bodies[1])).slice(0, 3)).toEqual(foundBytes)
})

it('sends all definitions of tools in the request when they are few', async () => {
  const env = await TestEnvironment.start({
    tools: [...directTools.slice(0, 2), tool('ping', () => 'pong')],
    model,
    script: [turn(text('Done.'))],
  })
  await env.runAgent()
  expect(toolNames(env.api.requests[0]?.body).filter(([, isDeferred]) => isDeferred)).toEqual([])
})

it('keeps found tools over a compaction that shortens results', async () => {
  const env = await TestEnvironment.start({
    tools: directTools,
    model: { ...model, contextWindow: 12_000, maxTokens: 1_000 },
    contextTokens: 12_000,
    script: [findAndAsk, ...Array.from({ length: 8 }, () => turn(call('sign'))), turn(text('Done.'))],
  })
  expect(await env.runAgent()).toMatchObject({ status: 'answered', answer: 'Done.', turns: 10 })
  const last = env.api.requests.at(-1)?.body
  expect(JSON.stringify(last).includes('bytes of this old result were removed')).toBe(true)
  expect(bytesOf(replyBlocks(last)).slice(0, 3)).toEqual(foundBytes)
})

interface OtherProvider {
  readonly option: (baseURL: string) => NonNullable<PtcConfig['providers']>[string]
  readonly answer: (response: ServerResponse) => void
  readonly refuse: (response: ServerResponse) => void
}

const signCall = { index: 0, id: 'call_1', type: 'function', function: { name: 'sign', arguments: '{}' } }
const others: Readonly<Record<string, OtherProvider>> = {
  'an OpenAI-compatible server': {
    option: (baseURL) => ({ kind: 'openai', baseURL }),
    answer: (response) => {
      startChatStream(response)
      response.end(chunk({ tool_calls: [signCall] }) + chunk({}, 'tool_calls') + usageChunk + done)
    },
    refuse: (response) => refuse(response, 400, { error: { message: 'Not again.' } }),
  },
  'Amazon Bedrock': {
    option: (baseURL) => ({ kind: 'bedrock', baseURL }),
    answer: (response) => {
      startEventStream(response)
      response.end(callReply('sign'))
    },
    refuse: (response) => refuseRequest(response, 'Not again.'),
  },
}

it.each(Object.entries(others))(
  'leaves the tool search out for %s, and sends it again to Anthropic',
  async (_name, other) => {
    const server = await startServer((response) => {
      if (server.requests.length > 1) other.refuse(response)
      else other.answer(response)
    })
    const refused = { type: 'status', status: 400, attempt: 1 } as const
    const env = await TestEnvironment.start({
      tools: directTools,
      model,
      providers: { other: other.option(server.url) },
      script: [findAndAsk, faulty([refused], turn(text('unused'))), answerResult],
    })
    const result = await env.runAgent({ model: ['claude-sonnet-5-5', 'other/m'] })
    expect(result).toMatchObject({ status: 'answered', turns: 3, toolCalls: 2 })
    const asked = JSON.stringify(server.requests[0]?.body)
    expect(asked).not.toMatch(/srvtoolu|tool_search_tool|tool_reference|defer_loading/)
    for (const { name } of directTools) expect(asked).toContain(`The ${name} of a test.`)
    const blocks = replyBlocks(env.api.requests.at(-1)?.body)
    expect(bytesOf(blocks).slice(0, 3)).toEqual(foundBytes)
    expect(blocks.at(-1)).toMatchObject({ type: 'tool_use', name: 'sign' })
  },
)
