import { BadRequestError } from '@anthropic-ai/sdk'
import type { Message, MessageCreateParamsNonStreaming, MessageParam } from '@anthropic-ai/sdk/resources/messages'
import { expect, test } from 'vitest'
import { container, hostedCall, hostedCode, hostedResult, hostedTurn } from '../../support/hosted-code.js'
import { text } from '../../support/script.js'
import { createClient, startServer, validRequest } from './support.js'

const script = [
  hostedTurn([text('I look.'), hostedCode('srvtoolu_1', 'rows()'), hostedCall('srvtoolu_1', 'query', { sql: 'a' })]),
  hostedTurn([hostedCall('srvtoolu_1', 'query', { sql: 'b' }), hostedCall('srvtoolu_1', 'query', { sql: 'c' })]),
  hostedTurn([hostedResult('srvtoolu_1', '3\n'), text('There are 3.')]),
]

const request: MessageCreateParamsNonStreaming = {
  ...validRequest,
  tools: [
    { type: 'code_execution_20260120', name: 'code_execution' },
    {
      name: 'query',
      input_schema: { type: 'object' },
      allowed_callers: ['code_execution_20260120'],
    },
  ],
}

/** Answers each call of code with its SQL, until the code has ended. */
async function converse(ask: (params: MessageCreateParamsNonStreaming) => Promise<Message>) {
  const messages: MessageParam[] = [...request.messages]
  const replies: Message[] = []
  for (let id: string | null = null; ;) {
    const reply = await ask({ ...request, messages, container: id })
    replies.push(reply)
    if (reply.stop_reason !== 'tool_use') return replies
    id = reply.container?.id ?? null
    const results = reply.content.flatMap((block) =>
      block.type === 'tool_use' ? [{ type: 'tool_result' as const, tool_use_id: block.id, content: 'row' }] : [],
    )
    messages.push({ role: 'assistant', content: reply.content }, { role: 'user', content: results })
  }
}

test('code pauses for its calls and ends, the same with the plain and with the streaming client', async () => {
  const client = createClient(await startServer({ script }))
  const plain = await converse((params) => client.messages.create(params))
  const streamed = await converse((params) => client.messages.stream(params).finalMessage())
  for (const replies of [plain, streamed]) {
    expect(replies).toMatchObject([
      {
        stop_reason: 'tool_use',
        container: { ...container, expires_at: expect.any(String) as string },
        content: [
          { type: 'text' },
          { type: 'server_tool_use', id: 'srvtoolu_1', name: 'code_execution', input: { code: 'rows()' } },
          { type: 'tool_use', input: { sql: 'a' }, caller: { type: 'code_execution_20260120', tool_id: 'srvtoolu_1' } },
        ],
      },
      {
        stop_reason: 'tool_use',
        container,
        content: [{ input: { sql: 'b' } }, { input: { sql: 'c' } }],
        usage: { input_tokens: 0, output_tokens: 0 },
      },
      { stop_reason: 'end_turn', content: [{ type: 'code_execution_tool_result' }, { text: 'There are 3.' }] },
    ])
  }
})

test('code that continues and makes more calls is a message that is complete at its start', async () => {
  const client = createClient(await startServer({ script }))
  const [first] = await converse((params) => client.messages.create(params))
  const content = first?.content ?? []
  const call = content.find((block) => block.type === 'tool_use')
  const results = [{ type: 'tool_result' as const, tool_use_id: call?.id ?? '', content: 'row' }]
  const messages = [...request.messages, { role: 'assistant', content }, { role: 'user', content: results }]
  const events: string[] = []
  const params = { ...request, messages: messages as MessageParam[], container: container.id, stream: true } as const
  for await (const event of await client.messages.create(params)) {
    events.push(event.type)
  }
  expect(events).toEqual(['message_start', 'message_stop'])
})

test('results without the container, with a text, or for an expired container are refused', async () => {
  const [pause, ...rest] = script
  const expired = { ...pause, reply: { ...pause?.reply, content: pause?.reply.content ?? [], container: past } }
  const client = createClient(await startServer({ script: [expired, ...rest] }))
  const reply = await client.messages.create(request)
  const call = reply.content.find((block) => block.type === 'tool_use')
  const result = { type: 'tool_result' as const, tool_use_id: call?.id ?? '', content: 'row' }
  const answer = (content: MessageParam['content'], id: string | null) =>
    client.messages.create({
      ...request,
      container: id,
      messages: [...request.messages, { role: 'assistant', content: reply.content }, { role: 'user', content }],
    })
  await expect(answer([result], null)).rejects.toThrow(BadRequestError)
  await expect(answer([result], null)).rejects.toThrow('container_id is required when there are pending tool uses')
  await expect(answer([result, { type: 'text', text: 'So?' }], container.id)).rejects.toThrow('only `tool_result`')
  await expect(answer([result], container.id)).rejects.toThrow('has expired')
  await expect(answer([result], 'container_9')).rejects.toThrow('no container container_9')
})

const past = { ...container, expires_at: '2020-01-01T00:00:00Z' }
