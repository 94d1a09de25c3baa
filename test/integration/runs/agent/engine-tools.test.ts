import { expect, it } from 'vitest'
import { TestConversation } from '../../../support/environment/test-conversation.js'
import { requestMessages, TestEnvironment } from '../../../support/environment/test-environment.js'
import { answerResult, call, code, turn } from '../../../support/script.js'
import { tool } from '../../../support/tools.js'

/** Names of the tools in the latest request. */
function toolNames({ api }: TestEnvironment): readonly string[] {
  const body = api.requests.at(-1)?.body as { readonly tools: readonly { readonly name: string }[] } | undefined
  return body?.tools.map(({ name }) => name) ?? []
}

it('reads cut results of calls and of code in pages, and only those of its own conversation', async () => {
  const talk = await TestConversation.start({
    tools: [tool('book', () => `${'a'.repeat(30_000)}MIDDLE${'b'.repeat(30_000)}`, { allowedCallers: ['direct'] })],
    script: [
      turn(call('book')),
      turn(call('read_more', { id: '{{last_tool_use_id}}', offset: 20_000 }), call('read_more', { id: 'toolu_other' })),
      turn(code('print("x" * 25_000 + "END")')),
      turn(call('read_more', { id: '{{last_tool_use_id}}', offset: 20_000 })),
      answerResult,
    ],
  })
  const { conversation } = talk
  const { status, answer, toolCalls } = await conversation.ask('Read.')
  expect({ status, toolCalls }).toEqual({ status: 'answered', toolCalls: 1 })
  expect(answer).toMatch(/^x{5000}END\n\n?\(characters 20000 to 25004, the end\)$/)
  const results = talk.sentMessages.flatMap(({ content }) => content as readonly { readonly content?: string }[])
  const [cut, page, refused] = results.flatMap(({ content }) =>
    content === undefined ? [] : [JSON.stringify(content)],
  )
  expect(cut).toMatch(/characters cut .*read_more\(.*\b[a-zA-Z0-9]{9}\b/)
  expect(cut).not.toContain('MIDDLE')
  expect(page).toMatch(/aMIDDLEb.*\(characters 20000 to 40000\. read_more\(.* has more\)/)
  expect(refused).toContain('no longer exists')
  expect(toolNames(talk.env)).toEqual(['execute_code', 'book', 'read_more'])
  // Exported messages have no references.
  expect(JSON.stringify(await conversation.history())).not.toContain('ptc.value')
  await talk.close()
})

it('searches the documentation of many tools, and calls a found tool from code', async () => {
  const env = await TestEnvironment.start({
    tools: [tool('ping_server', () => 'pong'), tool('pay', () => 'paid'), tool('ask', () => 'yes')],
    model: { documentedTools: 2 },
    script: [
      turn(call('search_tools', { query: 'ping a server' }), call('search_tools', { query: 7 })),
      turn(code('print(await ping_server())')),
      answerResult,
    ],
  })
  expect(await env.runAgent()).toMatchObject({ status: 'answered', answer: 'pong', toolCalls: 1, turns: 3 })
  expect(toolNames(env)).toEqual(['execute_code', 'search_tools', 'read_more'])
  const results = JSON.stringify(requestMessages(env.api.requests.at(-1)?.body)[2])
  expect(results).toContain('async def ping_server(')
  expect(results).not.toContain('async def pay(')
  expect(results).toContain('search_tools takes')
})
