import { describe, expect, it } from 'vitest'
import { isolateTests, runTurn, startServer } from './harness.js'
import {
  chunk,
  createProvider,
  done,
  event,
  helloReply,
  replyTo,
  startChatStream,
  usageChunk,
} from './openai-harness.js'

isolateTests()

const call = (index: number, id: string, name: string, args: string) => ({
  index,
  id,
  type: 'function',
  function: { name, arguments: args },
})
const callChunk = (...calls: readonly object[]) => chunk({ tool_calls: calls })

describe('a complete chat completion', () => {
  it('a complete chat completion has content, usage and request id, and no cost', async () => {
    expect(await replyTo(helloReply)).toEqual({
      model: 'gpt-5.6-2026-08-07',
      content: [{ type: 'text', text: 'Hello' }],
      stopReason: 'end_turn',
      usage: { inputTokens: 200, outputTokens: 20, cacheReadTokens: 1_024, cacheWriteTokens: 76 },
      costUsd: null,
      requestId: 'req_1',
    })
  })

  it('a chat completion is the same for a stream of single bytes, with CRLF, comments and empty data', async () => {
    const stream = `: keep-alive\n\ndata:\n\n${chunk({ content: 'Grüße 🎈' })}${chunk({}, 'stop')}${done}`
    const server = await startServer(async (response) => {
      startChatStream(response)
      for (const byte of Buffer.from(stream.replaceAll('\n', '\r\n'))) {
        response.write(Uint8Array.of(byte))
        await new Promise(setImmediate)
      }
      response.end()
    })
    expect((await runTurn(createProvider({ baseURL: server.url }))).content).toEqual([
      { type: 'text', text: 'Grüße 🎈' },
    ])
  })

  it('a chat completion is complete at [DONE], even if the server keeps the connection open', async () => {
    const server = await startServer((response) => {
      startChatStream(response)
      response.write(helloReply)
    })
    expect((await runTurn(createProvider({ baseURL: server.url }))).stopReason).toBe('end_turn')
  })

  it('joins the pieces of parallel tool calls', async () => {
    const { content, stopReason } = await replyTo(
      chunk({ role: 'assistant', content: null }) +
        callChunk(call(0, 'call_1', 'execute_code', '')) +
        callChunk({ index: 0, function: { arguments: '{"code": "pri' } }) +
        callChunk({ index: 0, function: { arguments: 'nt(1)"}' } }) +
        callChunk(call(1, 'call_2', 'now', '')) +
        callChunk({ index: 1, function: { arguments: '{}' } }) +
        chunk({}, 'tool_calls') +
        usageChunk +
        done,
    )
    expect(content).toEqual([
      { type: 'tool_use', id: 'call_1', name: 'execute_code', input: { code: 'print(1)' } },
      { type: 'tool_use', id: 'call_2', name: 'now', input: {} },
    ])
    expect(stopReason).toBe('tool_use')
  })

  it.each([
    ['length', 'max_tokens'],
    ['model_length', 'max_tokens'],
    ['content_filter', 'refusal'],
    ['function_call', 'tool_use'],
    ['something_new', 'something_new'],
  ])('a chat completion with finish reason %s has stop reason %s', async (finishReason, stopReason) => {
    expect((await replyTo(chunk({ content: 'x' }) + chunk({}, finishReason) + done)).stopReason).toBe(stopReason)
  })

  it('a chat completion that is a refusal has its text', async () => {
    const reply = await replyTo(chunk({ refusal: 'I can' }) + chunk({ refusal: "'t." }) + chunk({}, 'stop') + done)
    expect(reply).toMatchObject({ content: [{ type: 'text', text: "I can't." }], stopReason: 'refusal' })
  })

  it('a truncated chat completion has an empty tool input instead of a partial program', async () => {
    const cut = callChunk(call(0, 'call_1', 'execute_code', '{"code": "delete_every')) + chunk({}, 'length') + done
    expect(await replyTo(cut)).toMatchObject({
      content: [{ type: 'tool_use', id: 'call_1', name: 'execute_code', input: {} }],
      stopReason: 'max_tokens',
    })
  })
})

describe('invalid arguments', () => {
  it.each(['{"a": 1', '[1]', '"text"', '{"a": NaN}'])(
    'the invalid arguments %s reach the model as an error',
    async (text) => {
      const { content } = await replyTo(callChunk(call(0, 'call_1', 'add', text)) + chunk({}, 'tool_calls') + done)
      expect(content).toEqual([
        {
          type: 'tool_use',
          id: 'call_1',
          name: 'add',
          input: { invalid_json: text },
          input_problem:
            'The arguments of add are not a JSON object, so it was not called. Call it again with valid JSON.',
        },
      ])
    },
  )
})

describe('the stream of another server', () => {
  it('a stream of Ollama has complete tool calls, reasoning, finish reason stop, and no usage', async () => {
    const ollama = (delta: object, finish_reason: string | null = null) =>
      event({
        id: 'chatcmpl-704',
        object: 'chat.completion.chunk',
        created: 1_764_000_000,
        model: 'qwen3:8b',
        system_fingerprint: 'fp_ollama',
        choices: [{ index: 0, delta, finish_reason }],
      })
    const reply = await replyTo(
      ollama({ role: 'assistant', content: '', reasoning: 'Two ' }) +
        ollama({ role: 'assistant', content: '', reasoning: 'calls.' }) +
        ollama({
          role: 'assistant',
          content: '',
          tool_calls: [
            { id: 'call_a', index: 0, type: 'function', function: { name: 'add', arguments: '{"a":1}' } },
            { id: 'call_b', index: 0, type: 'function', function: { name: 'add', arguments: '{"a":2}' } },
          ],
        }) +
        ollama({ role: 'assistant', content: '' }, 'stop') +
        done,
      'ollama',
    )
    expect(reply).toEqual({
      model: 'qwen3:8b',
      content: [
        {
          type: 'ai_sdk_message',
          provider: 'ollama',
          model: 'claude-sonnet-5-5',
          parts: [{ type: 'tool-call' }, { type: 'tool-call' }],
          options: { openaiCompatible: { reasoning: 'Two calls.' } },
        },
        { type: 'tool_use', id: 'call_a', name: 'add', input: { a: 1 } },
        { type: 'tool_use', id: 'call_b', name: 'add', input: { a: 2 } },
      ],
      stopReason: 'tool_use',
      usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
      costUsd: null,
      requestId: 'req_1',
    })
  })

  it('a stream of Gemini has calls without number, signatures, and usage with the choice', async () => {
    const signature = { google: { thought_signature: 'c2ln' } }
    const toolCall = (id: string, args: string) => ({
      function: { arguments: args, name: 'add' },
      id,
      type: 'function',
    })
    const reply = await replyTo(
      event({
        choices: [
          {
            delta: {
              role: 'assistant',
              tool_calls: [{ extra_content: signature, ...toolCall('', '{"a":1}') }, toolCall('', '{"a":2}')],
            },
            finish_reason: 'tool_calls',
            index: 0,
          },
        ],
        created: 1_764_000_000,
        id: 'aBc',
        model: 'gemini-3-pro',
        object: 'chat.completion.chunk',
        usage: { completion_tokens: 17, prompt_tokens: 60, total_tokens: 100 },
      }) + done,
      'gemini',
    )
    expect(reply.content).toEqual([
      {
        type: 'ai_sdk_message',
        provider: 'gemini',
        model: 'claude-sonnet-5-5',
        parts: [
          { type: 'tool-call', providerOptions: { openaiCompatible: { extra_content: signature } } },
          { type: 'tool-call' },
        ],
      },
      { type: 'tool_use', id: expect.any(String) as string, name: 'add', input: { a: 1 } },
      { type: 'tool_use', id: expect.any(String) as string, name: 'add', input: { a: 2 } },
    ])
    expect(reply).toMatchObject({ stopReason: 'tool_use', usage: { inputTokens: 60, outputTokens: 17 } })
  })

  it('a stream of vLLM has reasoning, pieces of arguments, and running totals', async () => {
    const vllm = (delta: object, finish_reason: string | null, completion_tokens: number) =>
      event({
        id: 'chatcmpl-6f0',
        object: 'chat.completion.chunk',
        created: 1_764_000_000,
        model: 'Qwen/Qwen3-32B',
        choices: [{ index: 0, delta, logprobs: null, finish_reason, token_ids: null }],
        usage: { prompt_tokens: 60, total_tokens: 60 + completion_tokens, completion_tokens },
      })
    const reply = await replyTo(
      vllm({ role: 'assistant', content: '' }, null, 0) +
        vllm({ reasoning_content: 'Hm.' }, null, 1) +
        vllm({ content: 'So' }, null, 2) +
        vllm(
          { tool_calls: [{ id: 'chatcmpl-tool-9', type: 'function', index: 0, function: { name: 'add' } }] },
          null,
          3,
        ) +
        vllm({ tool_calls: [{ index: 0, function: { arguments: '{"a": ' } }] }, null, 4) +
        vllm({ tool_calls: [{ index: 0, function: { arguments: '1}' } }] }, null, 5) +
        vllm({ content: '' }, 'tool_calls', 5) +
        done,
      'vllm',
    )
    expect(reply).toMatchObject({
      model: 'Qwen/Qwen3-32B',
      content: [
        { type: 'ai_sdk_message', provider: 'vllm', options: { openaiCompatible: { reasoning_content: 'Hm.' } } },
        { type: 'text', text: 'So' },
        { type: 'tool_use', id: 'chatcmpl-tool-9', name: 'add', input: { a: 1 } },
      ],
      usage: { inputTokens: 60, outputTokens: 5 },
    })
  })

  it('a stream of another server may lack model, final empty line and [DONE]', async () => {
    const last = `data: ${JSON.stringify({ choices: [{ delta: { content: 'Hi' }, finish_reason: 'stop' }] })}`
    expect(await replyTo(last)).toMatchObject({ model: 'claude-sonnet-5-5', content: [{ type: 'text', text: 'Hi' }] })
  })
})

describe('a broken stream', () => {
  it.each([
    ['nothing at all', ''],
    ['no finish reason', chunk({ content: 'Hel' })],
    ['a cut inside an event', helloReply.slice(0, 300)],
    ['a cut inside tool arguments', callChunk(call(0, 'call_1', 'add', '{"a"'))],
    ['invalid JSON', `${chunk({ content: 'x' })}data: {"choices": [\n\n`],
  ])('a broken stream of a chat completion (%s) is MODEL_STREAM, never half a reply', async (_what, bytes) => {
    await expect(replyTo(bytes)).rejects.toMatchObject({ code: 'MODEL_STREAM', retryable: true })
  })

  it.each([
    ['[DONE] alone', done],
    ['usage and [DONE]', usageChunk + done],
    ['no choices', event({ choices: null }) + done],
    ['no JSON object', 'data: 7\n\n'],
    ['choices of the wrong shape', event({ choices: 'one' })],
    ['invalid JSON before its end', `data: {"choices": [\n\n${helloReply}`],
  ])('a broken stream of a chat completion (%s) is MODEL_REPLY_INVALID', async (_what, bytes) => {
    await expect(replyTo(bytes)).rejects.toMatchObject({ code: 'MODEL_REPLY_INVALID', retryable: true })
  })

  it.each([
    [{ message: 'The server had an error', type: 'server_error', code: null }, 'MODEL_SERVER'],
    [{ message: 'Slow down', type: 'requests', code: 'rate_limit_exceeded' }, 'MODEL_RATE_LIMIT'],
    [{ message: 'Provider returned error', code: 502 }, 'MODEL_SERVER'],
    [{ message: 'Rate limited upstream', code: 429 }, 'MODEL_RATE_LIMIT'],
    ['out of memory', 'MODEL_STREAM'],
  ])('the error %j in the stream of a chat completion is %s', async (error, code) => {
    const failed = replyTo(chunk({ content: 'Hel' }) + event({ error }))
    const message = typeof error === 'string' ? error : error.message
    await expect(failed).rejects.toMatchObject({ code, message: expect.stringContaining(message) as string })
  })

  it('the finish reason error of a chat completion is MODEL_SERVER', async () => {
    await expect(replyTo(chunk({ content: 'x' }) + chunk({}, 'error') + done)).rejects.toMatchObject({
      code: 'MODEL_SERVER',
    })
  })

  it('reports the content type of a chat completion that is not an event stream', async () => {
    const server = await startServer((response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Log in</h1>')
    })
    await expect(runTurn(createProvider({ baseURL: server.url }))).rejects.toMatchObject({
      code: 'MODEL_REPLY_INVALID',
      message: expect.stringContaining('text/html') as string,
    })
  })

  it('a reset connection in a chat completion is MODEL_CONNECTION', async () => {
    const server = await startServer((response) => {
      startChatStream(response)
      response.write(chunk({ content: 'Hel' }), () => response.socket?.resetAndDestroy())
    })
    await expect(runTurn(createProvider({ baseURL: server.url }))).rejects.toMatchObject({ code: 'MODEL_CONNECTION' })
  })
})
