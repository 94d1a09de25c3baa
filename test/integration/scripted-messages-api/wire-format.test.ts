import { expect, test } from 'vitest'
import { validHeaders, validRequest, post, textTurn, startServer } from './support.js'

const golden = `event: message_start
data: {"type":"message_start","message":{"model":"claude-sonnet-5","id":"ID","type":"message","role":"assistant","content":[],"stop_reason":null,"stop_sequence":null,"stop_details":null,"usage":{"input_tokens":4,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,"ephemeral_1h_input_tokens":0},"output_tokens":1,"service_tier":"standard","inference_geo":"not_available"}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: ping
data: {"type": "ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"I'll"}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":" look."}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"toolu_fixed","name":"get_expenses","input":{},"caller":{"type":"direct"}}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\\"qu"}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"arter\\":\\"Q3\\""}}

event: content_block_delta
data: {"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null,"stop_details":null},"usage":{"input_tokens":4,"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"output_tokens":11}}

event: message_stop
data: {"type":"message_stop"}

`

const lookUp = {
  reply: {
    content: [
      { type: 'text', text: "I'll look." },
      { type: 'tool_use', id: 'toolu_fixed', name: 'get_expenses', input: { quarter: 'Q3' } },
    ],
  },
}

test('a stream equals that of the real API, byte for byte', async () => {
  const server = await startServer({ script: [lookUp] })

  const response = await post(server, { ...validRequest, stream: true })
  const text = await response.text()

  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  expect(response.headers.get('cache-control')).toBe('no-cache')
  expect(response.headers.get('request-id')).toMatch(/^req_011C/)
  expect(response.headers.get('anthropic-organization-id')).toMatch(/^[0-9a-f-]{36}$/)
  expect(text.replace(/msg_01\w{22}/, 'ID')).toBe(golden)
})

test('a retry gets the same bytes, also from another server', async () => {
  const [one, other] = [await startServer({ script: [lookUp] }), await startServer({ script: [lookUp] })]
  const ask = async (server: typeof one) => (await post(server, { ...validRequest, stream: true })).text()

  const first = await ask(one)

  expect(await ask(one)).toBe(first)
  expect(await ask(other)).toBe(first)
})

test('a plain message has its fields in the order of the real API', async () => {
  const server = await startServer({ script: [textTurn('Hi')] })

  const response = await post(server, validRequest)

  expect(response.headers.get('content-type')).toBe('application/json')
  expect((await response.text()).replace(/msg_01\w{22}/, 'ID')).toBe(
    '{"model":"claude-sonnet-5","id":"ID","type":"message","role":"assistant","content":[{"type":"text","text":"Hi"}],' +
      '"stop_reason":"end_turn","stop_sequence":null,"stop_details":null,"usage":{"input_tokens":4,' +
      '"cache_creation_input_tokens":0,"cache_read_input_tokens":0,"cache_creation":{"ephemeral_5m_input_tokens":0,' +
      '"ephemeral_1h_input_tokens":0},"output_tokens":1,"service_tier":"standard","inference_geo":"not_available"}}',
  )
})

test('a token count response has only the number', async () => {
  const server = await startServer({ script: [textTurn('Hi')] })
  const { max_tokens: _, ...prompt } = validRequest

  const response = await post(server, prompt, { path: '/v1/messages/count_tokens' })

  expect(await response.text()).toBe('{"input_tokens":4}')
})

test('an error during a stream is an event with the request id', async () => {
  const error = { type: 'api_error', message: 'Internal server error' }
  const faults = [{ type: 'error_event', attempt: 1, at: { before: 'message_delta' }, error }] as const
  const server = await startServer({ script: [{ ...lookUp, faults }] })

  const response = await post(server, { ...validRequest, stream: true })

  const requestId = response.headers.get('request-id')
  const before = golden.slice(0, golden.indexOf('event: message_delta'))
  expect((await response.text()).replace(/msg_01\w{22}/, 'ID')).toBe(
    `${before}event: error\ndata: {"type":"error","error":{"details":null,"type":"api_error","message":"Internal server error"},"request_id":"${requestId}"}\n\n`,
  )
})

test('a stream cut after some bytes delivers exactly these bytes', async () => {
  const faults = [{ type: 'cut', attempt: 'every', at: { bytes: 100 }, mode: 'end' }] as const
  const server = await startServer({ script: [{ ...lookUp, faults }] })

  expect(await (await post(server, { ...validRequest, stream: true })).arrayBuffer()).toHaveProperty('byteLength', 100)
  expect(await (await post(server, validRequest)).arrayBuffer()).toHaveProperty('byteLength', 100)
})

test('a plain message that is cut ends in the middle', async () => {
  const faults = [{ type: 'cut', attempt: 1, at: { before: 'message_stop' } }] as const
  const server = await startServer({ script: [{ ...lookUp, faults }] })

  const response = await post(server, validRequest)

  await expect(response.text()).rejects.toThrow('terminated')
})

test('the query of a beta client and a charset are accepted', async () => {
  const server = await startServer({ script: [textTurn('Hi')] })
  const headers = { ...validHeaders, 'content-type': 'application/json; charset=utf-8' }

  expect((await post(server, validRequest, { path: '/v1/messages?beta=true', headers })).status).toBe(200)
})
