import type { ServerResponse } from 'node:http'
import type { ProviderOption } from '../../../src/models/options/providers.js'
import { createBedrockProvider } from '../../../src/models/anthropic/bedrock-provider.js'
import { createAiSdkProvider } from '../../../src/models/ai-sdk/provider.js'
import type { ModelProvider } from '../../../src/models/provider.js'
import * as bedrock from './bedrock-harness.js'
import { closeAfterTest, createProvider } from './harness.js'
import * as chat from './openai-harness.js'
import { block, emptyText, event, messageEnd, messageStart, startStream } from './raw-server.js'
import * as responses from './responses-harness.js'

/** The replies of a scripted server of a wire format. */
export interface WireFormat {
  /** The option of the configuration. */
  readonly option: (baseURL: string) => ProviderOption
  readonly provider: (baseURL: string) => ModelProvider
  readonly answer: (response: ServerResponse, text: string) => void
  /** Calls a tool without arguments, whose id is unique. */
  readonly call: (response: ServerResponse, name: string, id: string) => void
  /** Ends in the middle of code. */
  readonly truncated: (response: ServerResponse) => void
  readonly refuse: (response: ServerResponse, message: string) => void
  /** The error message about a conversation that does not fit, and about a limit of output tokens over 1,500. */
  readonly tooLong: string
  readonly overLimit: string
  /** Name of the limit of output tokens in a request. */
  readonly limit: string
}

const cutCode = '{"code": "delete_every'

function refuseAnthropic(response: ServerResponse, message: string): void {
  response.writeHead(400, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message } }))
}

function refuseOpenAI(response: ServerResponse, message: string): void {
  chat.refuse(response, 400, { error: { message, type: 'invalid_request_error', param: null, code: null } })
}

/** The events of a message with one block, by their data. */
const oneBlock = (start: object, delta: object, stopReason: string): readonly object[] => [
  { type: 'content_block_start', index: 0, content_block: start },
  { type: 'content_block_delta', index: 0, delta },
  { type: 'content_block_stop', index: 0 },
  ...bedrock.messageEnd(stopReason),
]

const jsonDelta = (partial_json: string) => ({ type: 'input_json_delta', partial_json })
const toolUse = (name: string, id: string) => ({ type: 'tool_use', id, name, input: {} })

function streamBedrock(response: ServerResponse, ...events: readonly object[]): void {
  bedrock.startEventStream(response)
  response.end(bedrock.frames(bedrock.messageStart, ...events))
}

function streamChat(response: ServerResponse, delta: object, finishReason: string): void {
  chat.startChatStream(response)
  response.end(chat.chunk(delta) + chat.chunk({}, finishReason) + chat.usageChunk + chat.done)
}

const chatCall = (id: string, name: string, args: string) => ({
  tool_calls: [{ index: 0, id, type: 'function', function: { name, arguments: args } }],
})

function streamResponse(response: ServerResponse, stream: string): void {
  chat.startChatStream(response)
  response.end(stream)
}

function streamAnthropic(response: ServerResponse, ...parts: readonly string[]): void {
  startStream(response)
  response.end(messageStart + parts.join(''))
}

export const wireFormats: Readonly<Record<'anthropic' | 'bedrock' | 'chat' | 'responses', WireFormat>> = {
  anthropic: {
    // A test environment sends the requests of kind `anthropic` to its own server.
    option: (baseURL) => createProvider({ apiKey: 'k', baseURL }),
    provider: (baseURL) => createProvider({ apiKey: 'k', baseURL }),
    answer: (response, text) =>
      streamAnthropic(response, block(0, emptyText, { type: 'text_delta', text }), messageEnd('end_turn')),
    call: (response, name, id) => streamAnthropic(response, block(0, toolUse(name, id)), messageEnd('tool_use')),
    truncated: (response) =>
      streamAnthropic(
        response,
        block(0, toolUse('execute_code', 'toolu_1'), jsonDelta(cutCode)),
        event({ type: 'message_delta', delta: { stop_reason: 'max_tokens' }, usage: { output_tokens: 9 } }),
        event({ type: 'message_stop' }),
      ),
    refuse: refuseAnthropic,
    tooLong: 'prompt is too long: 210000 tokens > 200000 maximum',
    overLimit: 'max_tokens: 2000 > 1500, which is the maximum allowed number of output tokens for m',
    limit: 'max_tokens',
  },
  bedrock: {
    option: (baseURL) => ({ kind: 'bedrock', baseURL }),
    provider: (baseURL) => closeAfterTest(createBedrockProvider({ baseURL })),
    answer: (response, text) =>
      streamBedrock(response, ...oneBlock(emptyText, { type: 'text_delta', text }, 'end_turn')),
    call: (response, name, id) => streamBedrock(response, ...oneBlock(toolUse(name, id), jsonDelta(''), 'tool_use')),
    truncated: (response) =>
      streamBedrock(response, ...oneBlock(toolUse('execute_code', 'toolu_1'), jsonDelta(cutCode), 'max_tokens')),
    refuse: bedrock.refuseRequest,
    tooLong: 'Input is too long for requested model.',
    overLimit:
      'The maximum tokens you requested exceeds the model limit of 1500. ' +
      'Try again with a maximum tokens value that is lower than 1500.',
    limit: 'max_tokens',
  },
  chat: {
    option: (baseURL) => ({ kind: 'openai', baseURL }),
    provider: (baseURL) => closeAfterTest(createAiSdkProvider({ name: 'openai', baseURL })),
    answer: (response, text) => streamChat(response, { content: text }, 'stop'),
    call: (response, name, id) => streamChat(response, chatCall(id, name, '{}'), 'tool_calls'),
    truncated: (response) => streamChat(response, chatCall('call_1', 'execute_code', cutCode), 'length'),
    refuse: refuseOpenAI,
    tooLong: "This model's maximum context length is 128000 tokens.",
    overLimit: 'max_tokens is too large: 2000. This model supports at most 1500 completion tokens.',
    limit: 'max_tokens',
  },
  responses: {
    option: (baseURL) => ({ kind: 'openai', api: 'responses', baseURL }),
    provider: (baseURL) => closeAfterTest(createAiSdkProvider({ name: 'openai', api: 'responses', baseURL })),
    answer: (response, text) => streamResponse(response, responses.replyOf(responses.message(text))),
    call: (response, name, id) => streamResponse(response, responses.replyOf(responses.functionCall(id, name, '{}'))),
    truncated: (response) => {
      const cut = responses.functionCall('call_1', 'execute_code', cutCode)
      const end = responses.incomplete('max_output_tokens', [cut.item])
      streamResponse(response, responses.begin + cut.events(0) + end)
    },
    refuse: refuseOpenAI,
    tooLong: 'Your input exceeds the context window of this model.',
    overLimit:
      "Invalid 'max_output_tokens': integer above maximum value. Expected a value <= 1500, but got 2000 instead.",
    limit: 'max_output_tokens',
  },
}
