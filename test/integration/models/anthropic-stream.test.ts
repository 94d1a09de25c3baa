import { describe, expect, it } from 'vitest'
import { isolateTests, createProvider, startServer, runTurn } from './harness.js'
import { block, emptyText, event, helloReply, messageEnd, messageStart, startStream } from './raw-server.js'

isolateTests()

/** The reply to a stream of exactly these bytes that ends cleanly. */
async function replyTo(bytes: string | readonly string[]) {
  const server = await startServer((response) => {
    startStream(response)
    for (const piece of typeof bytes === 'string' ? [bytes] : bytes) response.write(piece)
    response.end()
  })
  return runTurn(createProvider({ apiKey: 'test-key', baseURL: server.url }))
}

describe('a complete reply of Anthropic', () => {
  it('a complete reply of Anthropic has content, usage, cost and request id', async () => {
    expect(await replyTo(helloReply)).toEqual({
      model: 'claude-sonnet-5-5',
      content: [{ type: 'text', text: 'Hello' }],
      stopReason: 'end_turn',
      usage: { inputTokens: 12, outputTokens: 20, cacheReadTokens: 4_000, cacheWriteTokens: 300 },
      costUsd: expect.closeTo((12 * 2 + 20 * 10 + 4_000 * 0.1 + 300 * 2.5) / 1e6, 12) as number,
      requestId: 'req_1',
    })
  })

  it('a reply of Anthropic is the same for a stream of single bytes', async () => {
    const bytes = Buffer.from(
      messageStart + block(0, emptyText, { type: 'text_delta', text: 'Grüße 🎈' }) + messageEnd('end_turn'),
    )
    const server = await startServer(async (response) => {
      startStream(response)
      for (const byte of bytes) {
        response.write(Uint8Array.of(byte))
        await new Promise(setImmediate)
      }
      response.end()
    })
    expect((await runTurn(createProvider({ apiKey: 'test-key', baseURL: server.url }))).content).toEqual([
      { type: 'text', text: 'Grüße 🎈' },
    ])
  })

  it('a reply of Anthropic may be complete in message_start, without any delta', async () => {
    const content = [{ type: 'tool_use', id: 'toolu_1', name: 'add', input: { a: 1 }, caller: { type: 'direct' } }]
    const message = { model: 'm', content, stop_reason: 'tool_use', usage: { input_tokens: 0, output_tokens: 0 } }
    const reply = await replyTo(event({ type: 'message_start', message }) + event({ type: 'message_stop' }))
    expect(reply).toMatchObject({ content, stopReason: 'tool_use', costUsd: null })
  })

  it('a reply of Anthropic is complete at message_stop, even if the server keeps the connection open', async () => {
    const server = await startServer((response) => {
      startStream(response)
      response.write(helloReply)
    })
    expect((await runTurn(createProvider({ apiKey: 'test-key', baseURL: server.url }))).stopReason).toBe('end_turn')
  })

  it('joins the pieces of a tool input, and keeps an empty one', async () => {
    const { content } = await replyTo(
      messageStart +
        block(
          0,
          { type: 'tool_use', id: 't1', name: 'execute_code', input: {} },
          { type: 'input_json_delta', partial_json: '' },
          { type: 'input_json_delta', partial_json: '{"code": "pri' },
          { type: 'input_json_delta', partial_json: 'nt(1)"}' },
        ) +
        block(
          1,
          { type: 'tool_use', id: 't2', name: 'now', input: {} },
          {
            type: 'input_json_delta',
            partial_json: '',
          },
        ) +
        messageEnd('tool_use'),
    )
    expect(content).toEqual([
      { type: 'tool_use', id: 't1', name: 'execute_code', input: { code: 'print(1)' } },
      { type: 'tool_use', id: 't2', name: 'now', input: {} },
    ])
  })

  it('a reply of Anthropic keeps any stop reason', async () => {
    for (const reason of ['pause_turn', 'refusal', 'something_new']) {
      expect((await replyTo(messageStart + messageEnd(reason))).stopReason).toBe(reason)
    }
  })
})

describe('unknown parts of a stream', () => {
  it('F26: ignores unknown events and fields in a stream', async () => {
    const unknown = event({ type: 'weather_report', sky: 'blue' })
    const { content } = await replyTo(
      `: a comment\n\n${messageStart}${unknown}${helloReply.slice(messageStart.length)}`,
    )
    expect(content).toEqual([{ type: 'text', text: 'Hello' }])
  })

  it('F26: keeps unknown blocks and deltas of a stream', async () => {
    const { content } = await replyTo(
      messageStart +
        block(0, { type: 'redacted_thinking', data: 'opaque==' }) +
        block(
          1,
          { type: 'thinking', thinking: '', signature: '' },
          { type: 'thinking_delta', thinking: 'Let me ' },
          { type: 'thinking_delta', thinking: 'see' },
          { type: 'signature_delta', signature: 'sig==' },
        ) +
        block(
          2,
          { type: 'dream', tale: 'Once', images: [1], deep: { a: [null] } },
          {
            type: 'dream_delta',
            tale: ' upon',
            images: [2],
            mood: 'calm',
          },
        ) +
        block(
          3,
          { type: 'text', text: '', citations: [] },
          { type: 'text_delta', text: 'So' },
          { type: 'citations_delta', citation: { cited_text: 'x' } },
        ) +
        block(
          4,
          { type: 'server_tool_use', id: 's1', name: 'web_search', input: {} },
          {
            type: 'input_json_delta',
            partial_json: '{"query":"q"}',
          },
        ) +
        messageEnd('end_turn'),
    )
    expect(content).toEqual([
      { type: 'redacted_thinking', data: 'opaque==' },
      { type: 'thinking', thinking: 'Let me see', signature: 'sig==' },
      { type: 'dream', tale: 'Once upon', images: [1, 2], deep: { a: [null] }, mood: 'calm' },
      { type: 'text', text: 'So', citations: [{ cited_text: 'x' }] },
      { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'q' } },
    ])
  })
})

describe('truncated output', () => {
  const half = block(
    0,
    { type: 'tool_use', id: 't1', name: 'execute_code', input: {} },
    {
      type: 'input_json_delta',
      partial_json: '{"code": "delete_every',
    },
  )

  it('F27: truncated output has an empty tool input instead of a partial program', async () => {
    const reply = await replyTo(messageStart + half + messageEnd('max_tokens'))
    expect(reply.stopReason).toBe('max_tokens')
    expect(reply.content).toEqual([{ type: 'tool_use', id: 't1', name: 'execute_code', input: {} }])
  })

  it('tells the model of truncated output when the stop reason does not explain it', async () => {
    expect((await replyTo(messageStart + half + messageEnd('tool_use'))).content).toMatchObject([
      { input: { invalid_json: '{"code": "delete_every' }, input_problem: expect.stringContaining('JSON') as string },
    ])
  })
})

describe('blank text', () => {
  it('drops blank text of a reply, because the API refuses it in requests', async () => {
    const blank = block(0, emptyText, { type: 'text_delta', text: '\n\n' })
    const hello = block(1, emptyText, { type: 'text_delta', text: ' Hello ' })
    const { content } = await replyTo(messageStart + blank + hello + messageEnd('end_turn'))
    expect(content).toEqual([{ type: 'text', text: ' Hello ' }])
  })

  it('F27: drops blank text even if the reply is then empty', async () => {
    expect((await replyTo(messageStart + block(0, emptyText) + messageEnd('end_turn'))).content).toEqual([])
  })
})

describe('a broken stream', () => {
  const toolUse = { type: 'tool_use', id: 't1', name: 'add', input: {} }
  it.each([
    ['nothing at all', ''],
    ['no message_stop', messageStart + block(0, emptyText, { type: 'text_delta', text: 'Hel' })],
    ['a cut inside an event', (messageStart + helloReply.slice(messageStart.length)).slice(0, -30)],
    ['a cut inside tool input', messageStart + block(0, toolUse, { type: 'input_json_delta', partial_json: '{"a"' })],
    ['invalid JSON', `${messageStart}event: content_block_start\ndata: {"type": "content_bl\n\n`],
    ['no JSON object', `${messageStart}event: content_block_start\ndata: 7\n\n`],
  ])('F26: (%s) is MODEL_STREAM, never half a reply', async (_what, bytes) => {
    await expect(replyTo(bytes)).rejects.toMatchObject({ code: 'MODEL_STREAM', retryable: true })
  })

  it.each([
    ['an end before the beginning', event({ type: 'message_stop' })],
    ['no stop reason and no block', messageStart + event({ type: 'message_stop' })],
    ['a delta before its block', messageStart + event({ type: 'content_block_delta', index: 0, delta: { type: 'x' } })],
    ['a known event of the wrong shape', messageStart + event({ type: 'content_block_start', index: 'one' })],
    ['a second begin', messageStart + block(0, emptyText) + helloReply],
    ['invalid JSON before its end', `${messageStart}data: {"type": "content_bl\n\n${messageEnd('end_turn')}`],
  ])('F26: a broken stream (%s) is MODEL_REPLY_INVALID', async (_what, bytes) => {
    await expect(replyTo(bytes)).rejects.toMatchObject({ code: 'MODEL_REPLY_INVALID', retryable: true })
  })

  const hello = (index?: unknown) => ({ type: 'content_block_delta', index, delta: { type: 'text_delta', text: 'Hi' } })
  const begin = (index: unknown, content_block: object) => event({ type: 'content_block_start', index, content_block })
  const noUsage = { type: 'message_start', message: { model: 'm', content: [], usage: null } }
  const hi = [{ type: 'text', text: 'Hi' }]
  it.each([
    ['a gap in the numbers of blocks', messageStart + block(3, emptyText, { type: 'text_delta', text: 'Hi' }), hi],
    ['a number of blocks used again', messageStart + block(0, toolUse) + block(0, toolUse), [toolUse, toolUse]],
    ['blocks without numbers', messageStart + begin(null, emptyText) + event(hello()), hi],
    ['a text without its begin', messageStart + event(hello(0)), hi],
    ['null as a text', messageStart + begin(0, { type: 'text', text: null }) + event(hello(0)), hi],
    ['null as usage', event(noUsage) + block(0, emptyText, { type: 'text_delta', text: 'Hi' }), hi],
    ['no begin', block(0, emptyText, { type: 'text_delta', text: 'Hi' }), hi],
    ['unknown events', `${messageStart}data: 7\n\n${event({ type: 'news' })}${event(hello(0))}data: {}\n\n`, hi],
    ['a delta that is null', messageStart + event({ type: 'content_block_delta', index: 0, delta: null }), []],
  ])('reads a stream that has %s', async (_what, bytes, content) => {
    for (const end of [messageEnd('end_turn'), messageEnd('end_turn').replaceAll('20', '"x"')])
      expect((await replyTo(bytes + end)).content).toEqual(content)
  })

  it('reads a complete stream without a stop reason', async () => {
    const stop =
      event({ type: 'message_delta', delta: { stop_reason: null }, usage: null }) + event({ type: 'message_stop' })
    const text = messageStart + block(0, emptyText, { type: 'text_delta', text: 'Hi' })
    expect(await replyTo(text + stop)).toMatchObject({ stopReason: 'end_turn', content: hi })
    expect(await replyTo(messageStart + block(0, toolUse) + stop)).toMatchObject({ stopReason: 'tool_use' })
    expect(await replyTo(`${text}${stop}data: [DONE]\n\n`)).toMatchObject({ content: hi })
  })

  it.each(['[1]', '"text"', '7', '{"a": 1}, {"a": 2}', '{"a"'])(
    'reports an invalid tool input to the model: %s',
    async (json) => {
      const bytes = messageStart + block(0, toolUse, { type: 'input_json_delta', partial_json: json })
      expect((await replyTo(bytes + messageEnd('tool_use'))).content).toMatchObject([
        { name: 'add', input: { invalid_json: json }, input_problem: expect.stringContaining('JSON object') as string },
      ])
    },
  )

  it.each([
    ['overloaded_error', 'MODEL_OVERLOADED'],
    ['rate_limit_error', 'MODEL_RATE_LIMIT'],
    ['api_error', 'MODEL_SERVER'],
    ['timeout_error', 'MODEL_TIMEOUT'],
    ['invalid_request_error', 'MODEL_BAD_REQUEST'],
    ['authentication_error', 'MODEL_AUTH'],
    ['brand_new_error', 'MODEL_STREAM'],
  ])('F26: the error event %s is %s', async (type, code) => {
    const failed = replyTo(messageStart + event({ type: 'error', error: { type, message: 'No luck' } }))
    await expect(failed).rejects.toMatchObject({ code, message: expect.stringContaining('No luck') as string })
  })

  it('F26: reports the content type of a response that is not an event stream', async () => {
    const server = await startServer((response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<h1>Log in to the hotel network</h1>')
    })
    await expect(runTurn(createProvider({ apiKey: 'test-key', baseURL: server.url }))).rejects.toMatchObject({
      code: 'MODEL_REPLY_INVALID',
      message: expect.stringContaining('text/html') as string,
    })
  })

  it('F25: a reset connection within a stream is MODEL_CONNECTION', async () => {
    const server = await startServer((response) => {
      startStream(response)
      response.write(messageStart, () => response.socket?.resetAndDestroy())
    })
    await expect(runTurn(createProvider({ apiKey: 'test-key', baseURL: server.url }))).rejects.toMatchObject({
      code: 'MODEL_CONNECTION',
    })
  })
})
