import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defaultLimits } from '../../../src/common/run/limits.js'
import { isToolUseBlock, type Message, type ModelReply, type UserBlock } from '../../../src/common/agent/messages.js'
import { defaultModel } from '../../../src/models/facts/prices.js'
import { buildPrompt } from '../../../src/models/prompt/prompt.js'
import type { ModelRequest } from '../../../src/models/provider.js'
import { type Script, startScriptedMessagesApi } from '../../../src/testing/index.js'
import type { ScriptedFault } from '../../../src/testing/scripted-messages-api/script/faults.js'
import { defineTool } from '../../../src/tools/define-tool.js'
import { documentTools } from '../../../src/tools/documentation/document-tools.js'
import { closeAfterTest, isolateTests, neverAborted, createProvider } from './harness.js'

const getExpenses = defineTool({
  name: 'get_expenses',
  description: 'Expenses of one employee in one quarter.',
  input: z.object({ employee_id: z.string(), quarter: z.enum(['Q1', 'Q2']) }),
  output: z.array(z.object({ amount: z.number() })),
  inputExamples: [{ employee_id: 'ENG001', quarter: 'Q1' }],
  effect: 'read',
  run: () => [],
})

const prompt = buildPrompt({ tools: documentTools([getExpenses]), limits: defaultLimits })
const question: Message = { role: 'user', content: [{ type: 'text', text: 'Who spent most?' }] }

isolateTests()

async function start(script: Script) {
  const server = closeAfterTest(await startScriptedMessagesApi({ script }))
  // Only the stalling server reaches this timeout, once. Everything else must not, even on a slow machine.
  const provider = createProvider({ apiKey: 'test-key', baseURL: server.url, idleTimeoutMs: 5_000 })
  const requestFor = (messages: readonly Message[]): ModelRequest => ({
    ...prompt,
    model: defaultModel,
    maxTokens: 4_000,
    messages,
  })
  const turn = (messages: readonly Message[]) =>
    provider.turn(requestFor(messages), { signal: neverAborted, onProgress: () => undefined })
  return { server, turn }
}

/** The messages that the agent loop would add: the reply, and a result for each call in it. */
function appendReply(messages: readonly Message[], reply: ModelReply, result: string): readonly Message[] {
  const results = reply.content
    .filter(isToolUseBlock)
    .map(({ id }): UserBlock => ({ type: 'tool_result', tool_use_id: id, content: result }))
  return [...messages, { role: 'assistant', content: reply.content }, { role: 'user', content: results }]
}

const code = (source: string) => ({ type: 'tool_use', name: 'execute_code', input: { code: source } }) as const

describe('a conversation with a scripted API that validates requests like the real one', () => {
  it('a conversation with the scripted API has turns with code, calls, thinking and unknown blocks', async () => {
    const { server, turn } = await start([
      {
        reply: {
          content: [
            { type: 'thinking', thinking: 'Both at once.', signature: 'sig==' },
            { type: 'text', text: 'I look.' },
            code('print(1)'),
            { type: 'tool_use', name: 'get_expenses', input: { employee_id: 'ENG001', quarter: 'Q1' } },
          ],
        },
      },
      { reply: { content: [{ type: 'dream', images: [{ deep: [null, 1.5] }] }, code('print(2)')] } },
      { reply: { content: [{ type: 'text', text: 'ENG001, by {{last_tool_result}}.' }] } },
    ])
    const first = await turn([question])
    const afterFirst = appendReply([question], first, '[]')
    const second = await turn(afterFirst)
    const third = await turn(appendReply(afterFirst, second, '42'))
    expect(first.content.map(({ type }) => type)).toEqual(['thinking', 'text', 'tool_use', 'tool_use'])
    expect(second.content[0]).toEqual({ type: 'dream', images: [{ deep: [null, 1.5] }] })
    expect(third).toMatchObject({ content: [{ type: 'text', text: 'ENG001, by 42.' }], stopReason: 'end_turn' })
    expect(server.requests.map(({ outcome }) => outcome)).not.toContain('rejected')
    expect(server.requests).toHaveLength(3)
    expect(first.requestId).toBe(server.requests[0]?.requestId)
  })

  it('a conversation reads earlier messages from the cache in later turns', async () => {
    // A text of the minimum length for the cache.
    const long: Message = { role: 'user', content: [{ type: 'text', text: 'Who spent most? '.repeat(400) }] }
    const { turn } = await start([
      { reply: { content: [code('print(1)')] } },
      { reply: { content: [code('print(2)')] } },
    ])
    const first = await turn([long])
    const second = await turn(appendReply([long], first, 'ok'))
    expect(first.usage.cacheReadTokens).toBe(0)
    expect(first.usage.cacheWriteTokens).toBeGreaterThan(1_000)
    expect(second.usage.cacheReadTokens).toBe(first.usage.cacheWriteTokens)
    expect(second.costUsd ?? Number.NaN).toBeLessThan(first.costUsd ?? Number.NaN)
  })

  it('a conversation uses the cache after a turn with more results than the API looks back', async () => {
    const long: Message = { role: 'user', content: [{ type: 'text', text: 'Who spent most? '.repeat(400) }] }
    const calls = Array.from({ length: 40 }, (_, n) => code(`print(${n})`))
    const { turn } = await start([
      { reply: { content: calls } },
      { reply: { content: [{ type: 'text', text: 'Done.' }] } },
    ])
    const first = await turn([long])
    const second = await turn(appendReply([long], first, 'ok'))
    expect(second.usage.cacheReadTokens).toBe(first.usage.cacheWriteTokens)
  })
})

describe('a failed attempt', () => {
  const at = { insideBlock: 0 }
  it.each<[ScriptedFault, string]>([
    [{ attempt: 1, type: 'status', status: 401 }, 'MODEL_AUTH'],
    [{ attempt: 1, type: 'status', status: 404 }, 'MODEL_NOT_FOUND'],
    [{ attempt: 1, type: 'status', status: 413 }, 'MODEL_BAD_REQUEST'],
    [{ attempt: 1, type: 'status', status: 429, headers: { 'retry-after': '1' } }, 'MODEL_RATE_LIMIT'],
    [{ attempt: 1, type: 'status', status: 500 }, 'MODEL_SERVER'],
    [{ attempt: 1, type: 'status', status: 529 }, 'MODEL_OVERLOADED'],
    [{ attempt: 1, type: 'close', mode: 'reset' }, 'MODEL_CONNECTION'],
    [{ attempt: 1, type: 'cut', at, mode: 'end' }, 'MODEL_STREAM'],
    [{ attempt: 1, type: 'cut', at, mode: 'close' }, 'MODEL_CONNECTION'],
    [{ attempt: 1, type: 'cut', at, mode: 'reset' }, 'MODEL_CONNECTION'],
    [{ attempt: 1, type: 'cut', at: { before: 'message_stop' }, mode: 'end' }, 'MODEL_STREAM'],
    [{ attempt: 1, type: 'stall', at }, 'MODEL_TIMEOUT'],
    [{ attempt: 1, type: 'error_event', at }, 'MODEL_OVERLOADED'],
    [{ attempt: 1, type: 'garbage', at }, 'MODEL_REPLY_INVALID'],
  ])('the failed attempt %j is %s, and the next attempt gets the complete reply', async (fault, expected) => {
    const { server, turn } = await start([{ reply: { content: [code('print(1)')] }, faults: [fault] }])
    await expect(turn([question])).rejects.toMatchObject({ code: expected })
    expect((await turn([question])).content).toMatchObject([{ name: 'execute_code', input: { code: 'print(1)' } }])
    expect(server.requests).toHaveLength(2)
  })

  it('a conversation over the context window is MODEL_CONTEXT_TOO_LONG', async () => {
    const server = closeAfterTest(
      await startScriptedMessagesApi({ script: [{ reply: { content: [] } }], contextTokens: 10 }),
    )
    const provider = createProvider({ apiKey: 'test-key', baseURL: server.url })
    const request = { ...prompt, model: defaultModel, maxTokens: 1, messages: [question] }
    const failed = provider.turn(request, { signal: neverAborted, onProgress: () => undefined })
    await expect(failed).rejects.toMatchObject({ code: 'MODEL_CONTEXT_TOO_LONG', retryable: false })
  })
})
