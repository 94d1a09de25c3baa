import { beforeEach, expect, it } from 'vitest'
import { createAiSdkProvider } from '../../../src/models/ai-sdk/provider.js'
import { closeAfterTest, isolateTests, runTurn, startServer } from './harness.js'
import { frame, startEventStream, stubAwsCredentials } from './bedrock-harness.js'

// Models of other vendors on Amazon Bedrock, through the package of the AI SDK: the Converse API.

isolateTests()

beforeEach(stubAwsCredentials)

const event = (type: string, payload: object) => frame({ ':event-type': type, ':message-type': 'event' }, payload)

const begin = [
  event('messageStart', { role: 'assistant' }),
  event('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'Hi' } }),
  event('contentBlockStop', { contentBlockIndex: 0 }),
]
const reply = Buffer.concat([
  ...begin,
  event('contentBlockStart', { contentBlockIndex: 1, start: { toolUse: { toolUseId: 'tooluse_1', name: 'add' } } }),
  event('contentBlockDelta', { contentBlockIndex: 1, delta: { toolUse: { input: '{"a":1}' } } }),
  event('contentBlockStop', { contentBlockIndex: 1 }),
  event('messageStop', { stopReason: 'tool_use' }),
  event('metadata', { usage: { inputTokens: 12, outputTokens: 3, totalTokens: 15, cacheReadInputTokens: 5 } }),
])

async function turnWith(bytes: Buffer) {
  const server = await startServer((response) => {
    startEventStream(response)
    response.end(bytes)
  })
  const provider = createAiSdkProvider({
    name: 'amazon-bedrock',
    package: '@ai-sdk/amazon-bedrock',
    baseURL: server.url,
    settings: { region: 'eu-west-3' },
  })
  return { server, turn: runTurn(closeAfterTest(provider)) }
}

it('a reply of the Converse API has content, usage and the request id of AWS, and is signed', async () => {
  const { server, turn } = await turnWith(reply)
  expect(await turn).toMatchObject({
    content: [
      { type: 'text', text: 'Hi' },
      { type: 'tool_use', name: 'add', input: { a: 1 } },
    ],
    stopReason: 'tool_use',
    usage: { inputTokens: 12, outputTokens: 3, cacheReadTokens: 5, cacheWriteTokens: 0 },
    requestId: 'aws-request-1',
  })
  expect(server.requests[0]?.url).toBe('/model/claude-sonnet-5-5/converse-stream')
  expect(server.requests[0]?.headers.authorization).toMatch(/^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE.*\/eu-west-3\//)
})

it('a cut stream and an exception of the Converse API are MODEL_STREAM, never half a reply', async () => {
  const cut = await turnWith(Buffer.concat(begin))
  await expect(cut.turn).rejects.toMatchObject({ code: 'MODEL_STREAM', retryable: true })
  const thrown = frame(
    { ':exception-type': 'throttlingException', ':content-type': 'application/json', ':message-type': 'exception' },
    { message: 'Too many requests' },
  )
  const failed = await turnWith(Buffer.concat([...begin, thrown]))
  await expect(failed.turn).rejects.toMatchObject({ code: 'MODEL_STREAM', retryable: true })
})

it('a refused request to the Converse API has the code of its status', async () => {
  const server = await startServer((response) => {
    response.writeHead(429, { 'content-type': 'application/json', 'x-amzn-requestid': 'aws-9' })
    response.end(JSON.stringify({ message: 'Too many tokens, please wait.' }))
  })
  const provider = createAiSdkProvider({
    name: 'amazon-bedrock',
    package: '@ai-sdk/amazon-bedrock',
    baseURL: server.url,
    settings: { region: 'eu-west-3' },
  })
  await expect(runTurn(closeAfterTest(provider))).rejects.toMatchObject({
    code: 'MODEL_RATE_LIMIT',
    message: 'The model API answered 429: Too many tokens, please wait. (request aws-9)',
  })
  expect(server.requests).toHaveLength(1)
})
