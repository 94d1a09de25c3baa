import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ModelProvider, ModelRequest } from '../../../src/models/provider.js'
import { PtcError } from '../../../src/common/errors.js'
import { zeroUsage } from '../../../src/common/run/runs.js'
import { TestEnvironment } from '../../support/environment/test-environment.js'
import { tool } from '../../support/tools.js'
import { chunk, done, startChatStream } from './openai-harness.js'
import { type RawServer, startRawServer } from './raw-server.js'

type Block = Readonly<Record<string, unknown>>

const text = (said: string): Block => ({ type: 'text', text: said })
const use = (id: unknown, name: unknown, input: unknown = {}): Block => ({ type: 'tool_use', id, name, input })

/** The replies of a model, in order: blocks, or an error. */
type Script = readonly (readonly Block[] | PtcError)[]

const scripts = new Map<string, Script>()
const requests = new Map<string, ModelRequest[]>()

/** A provider of a user whose models play the scripts with their names. */
const scripted: ModelProvider = {
  turn: async (request) => {
    const asked = requests.get(request.model) ?? []
    requests.set(request.model, [...asked, request])
    const reply = scripts.get(request.model)?.[asked.length] ?? [text('The script has ended.')]
    if (reply instanceof PtcError) throw reply
    // The reply has neither a stop reason nor usage.
    return { content: reply } as never
  },
  close: () => Promise.resolve(),
}

interface ChatMessage {
  readonly tool_calls?: readonly {
    readonly id: string
    readonly function: { readonly name: string; readonly arguments: string }
  }[]
  readonly tool_call_id?: string
}

const paid: string[] = []
let env: TestEnvironment
let end = async (): Promise<void> => undefined

beforeAll(async () => {
  const server = await startRawServer((response) => {
    startChatStream(response)
    response.end(chunk({ content: 'The strict server answers.' }) + chunk({}, 'stop') + done)
  })
  strict = server
  env = await TestEnvironment.start({
    tools: [tool('pay', ({ to }) => void paid.push(to as string), { effect: 'once' }), tool('ping', () => 'pong')],
    providers: { mine: scripted, strict: { kind: 'openai', baseURL: server.url } },
    onCleanup: (ending) => (end = ending),
  })
})

afterAll(async () => {
  await end()
  await strict.close()
})

let strict: RawServer

function play(name: string, ...script: Script): Promise<unknown> {
  scripts.set(name, script)
  return env.runAgent({ model: `mine/${name}` })
}

it('calls each of the tools that one reply calls with the same id once, with its own arguments', async () => {
  const uses = ['ada', 'lin', 'kim'].map((to) => use('same', 'pay', { to }))
  expect(await play('same-ids', uses, [text('All paid.')])).toMatchObject({ status: 'answered', usage: zeroUsage })
  expect(paid.toSorted()).toEqual(['ada', 'kim', 'lin'])
  const sent = requests.get('same-ids')?.[1]?.messages ?? []
  const ids = sent.flatMap(({ content }) => content.flatMap((block) => ('id' in block ? [block.id] : [])))
  const results = sent.flatMap(({ content }) =>
    content.flatMap((each) => ('tool_use_id' in each ? [each.tool_use_id] : [])),
  )
  expect(results).toEqual(ids)
  expect(new Set(ids).size).toBe(3)
})

it('shows a client the same tool use ids that the conversation has', async () => {
  await play('shown-ids', [use('__proto__', 'ping')], [text('Done.')])
  const tree = await env.ptc.handle(env.lastRun.workflowId).tree()
  const [call] = tree.turns[0]?.directCalls ?? []
  expect(call).toMatchObject({ tool: 'ping', status: 'ok' })
  const [, reply] = requests.get('shown-ids')?.[1]?.messages ?? []
  expect(reply?.content).toMatchObject([{ type: 'tool_use', id: call?.toolUse }])
})

it('continues after names and inputs that no API accepts, in a run and in a conversation', async () => {
  const odd = [
    use('', 'ping" />', 'text'),
    use('x'.repeat(200), '', [1]),
    use(null, 'n'.repeat(500), null),
    use('é\ud83d', 'ping', { '\ud83d': '\udc00' }),
    use('call_0', 'ping', '{"a": 1}'),
  ]
  scripts.set('odd', [odd, [text('half \ud83d')], odd, [text('Good.')]])
  const conversation = env.ptc.conversation(`odd-${env.taskQueue}`, { model: ['mine/odd', 'strict/m'] })
  expect(await conversation.ask('Go.')).toMatchObject({ status: 'answered', answer: 'half \ufffd' })
  scripts.set('odd', [...(scripts.get('odd') ?? []), new PtcError('MODEL_AUTH', 'down')])
  expect(await conversation.ask('Again.')).toMatchObject({ status: 'answered', answer: 'Good.' })
  // A fallback of another vendor reads all of these messages.
  expect(await conversation.ask('And now?')).toMatchObject({ answer: 'The strict server answers.' })
  const messages = (strict.requests.at(-1)?.body['messages'] ?? []) as readonly ChatMessage[]
  expect(JSON.stringify(messages)).not.toMatch(/\\ud/)
  const calls = messages.flatMap((message) => message.tool_calls ?? [])
  expect(calls).toHaveLength(10)
  for (const call of calls) {
    expect(call.id).toMatch(/^[a-zA-Z0-9]{9}$/)
    expect(call.function.name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
    expect(JSON.parse(call.function.arguments)).toBeTypeOf('object')
  }
  expect(new Set(calls.map(({ id }) => id)).size).toBe(10)
  expect(messages.flatMap((message) => message.tool_call_id ?? [])).toEqual(calls.map(({ id }) => id))
  await conversation.close()
})

describe('a call of a tool as text', () => {
  const call = text('<tool_call>{"name": "ping", "arguments": {}}</tool_call>')

  it('a call of a tool as text is prompted again once', async () => {
    expect(await play('text-call', [call], [use('a', 'ping')], [text('It said pong.')])).toMatchObject({
      status: 'answered',
      answer: 'It said pong.',
    })
    const last = requests.get('text-call')?.[1]?.messages.at(-1)
    expect(last?.content).toMatchObject([{ text: expect.stringContaining('a call of ping as text') as string }])
  })

  it('a call of a tool as text is not an answer, and the missing parser is reported', async () => {
    expect(await play('text-calls', [call], [call], [text('never asked')])).toMatchObject({
      status: 'no_answer',
      answer: expect.stringContaining('no parser for the tool calls') as string,
      turns: 2,
    })
  })

  it('a call as text is an answer when no tool has this name', async () => {
    const answer = '{"name": "Ada", "arguments": {}}'
    expect(await play('plain-json', [text(answer)])).toMatchObject({ status: 'answered', answer })
  })
})

it("asks twice for a reply whose form can't be used, and then fails with the reason", async () => {
  const script = Array.from({ length: 10 }, () => 'no list' as never)
  await expect(play('no-list', ...script)).rejects.toThrow()
  await expect(env.ptc.handle(env.lastRun.workflowId).result()).rejects.toMatchObject({ code: 'MODEL_REPLY_INVALID' })
  expect(requests.get('no-list')).toHaveLength(2)
  expect(await env.runAgent({ model: ['mine/no-list', 'strict/m'] })).toMatchObject({ status: 'answered' })
})
