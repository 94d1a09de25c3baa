import type { ServerResponse } from 'node:http'
import { crc32 } from 'node:zlib'
import { vi } from 'vitest'
import type { ModelReply } from '../../../src/common/agent/messages.js'
import type { BedrockProviderOptions } from '../../../src/models/anthropic/options.js'
import { createBedrockProvider } from '../../../src/models/anthropic/bedrock-provider.js'
import type { ModelProvider } from '../../../src/models/provider.js'
import { closeAfterTest, runTurn, startServer } from './harness.js'

/** Replaces this machine's credentials of AWS with test values. */
export function stubAwsCredentials(): void {
  for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) vi.stubEnv(name, undefined)
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'very-secret-key')
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true')
  vi.stubEnv('AWS_CONFIG_FILE', '/nowhere')
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', '/nowhere')
}

/** One message of AWS's event stream: lengths, headers and payload, with the checksums of prelude and message. */
export function frame(headers: Readonly<Record<string, string>>, payload: object): Buffer {
  const encodedHeaders = Buffer.concat(Object.entries(headers).map(([name, value]) => encodeHeader(name, value)))
  const body = Buffer.from(JSON.stringify(payload))
  const message = Buffer.alloc(12 + encodedHeaders.length + body.length + 4)
  message.writeUInt32BE(message.length, 0)
  message.writeUInt32BE(encodedHeaders.length, 4)
  message.writeUInt32BE(crc32(message.subarray(0, 8)), 8)
  encodedHeaders.copy(message, 12)
  body.copy(message, 12 + encodedHeaders.length)
  message.writeUInt32BE(crc32(message.subarray(0, -4)), message.length - 4)
  return message
}

/** A header whose value is a string: type 7. */
function encodeHeader(name: string, value: string): Buffer {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(Buffer.byteLength(value))
  return Buffer.concat([Buffer.of(name.length), Buffer.from(name), Buffer.of(7), length, Buffer.from(value)])
}

/** The events of the Messages API in Bedrock's format. `p` pads the length. */
export function frames(...events: readonly object[]): Buffer {
  const headers = { ':event-type': 'chunk', ':content-type': 'application/json', ':message-type': 'event' }
  return Buffer.concat(
    events.map((event) =>
      frame(headers, { bytes: Buffer.from(JSON.stringify(event)).toString('base64'), p: 'abcdefgh' }),
    ),
  )
}

/** An exception within the stream. */
export function exceptionFrame(type: string, message: string): Buffer {
  const headers = { ':exception-type': type, ':content-type': 'application/json', ':message-type': 'exception' }
  return frame(headers, { message })
}

export const messageStart = {
  type: 'message_start',
  message: {
    model: 'claude-sonnet-4-5-20250929',
    id: 'msg_bdrk_01',
    type: 'message',
    role: 'assistant',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 12, cache_creation_input_tokens: 300, cache_read_input_tokens: 4_000, output_tokens: 1 },
  },
}

export function messageEnd(stop_reason: string): readonly object[] {
  return [
    { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage: { output_tokens: 20 } },
    {
      type: 'message_stop',
      'amazon-bedrock-invocationMetrics': { inputTokenCount: 12, outputTokenCount: 20, firstByteLatency: 400 },
    },
  ]
}

export const helloReply = frames(
  messageStart,
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'ping' },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Grüße 🎈' } },
  { type: 'content_block_stop', index: 0 },
  ...messageEnd('end_turn'),
)

export function startEventStream(response: ServerResponse): void {
  response.writeHead(200, {
    'content-type': 'application/vnd.amazon.eventstream',
    'x-amzn-requestid': 'aws-request-1',
    'x-amzn-bedrock-content-type': 'application/json',
  })
}

export function createProvider(options: BedrockProviderOptions): ModelProvider {
  return closeAfterTest(createBedrockProvider(options))
}

/** A reply that calls a tool without arguments. */
export const callReply = (name: string): Buffer =>
  frames(
    messageStart,
    { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'toolu_bdrk_1', name, input: {} } },
    { type: 'content_block_stop', index: 0 },
    ...messageEnd('tool_use'),
  )

/** Refuses a request in the same way as Bedrock. */
export function refuseRequest(response: ServerResponse, message: string): void {
  const headers = { 'content-type': 'application/json', 'x-amzn-errortype': 'ValidationException' }
  response.writeHead(400, headers).end(JSON.stringify({ message }))
}

/** A server that answers each request with exactly these bytes. */
export function startStreamingServer(bytes: Buffer) {
  return startServer((response) => {
    startEventStream(response)
    response.end(bytes)
  })
}

/** The reply to a stream of exactly these bytes that ends cleanly. */
export async function replyTo(bytes: Buffer): Promise<ModelReply> {
  const { url } = await startStreamingServer(bytes)
  return runTurn(createProvider({ baseURL: url }))
}
