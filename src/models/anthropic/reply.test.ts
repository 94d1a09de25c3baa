import { expect, it } from 'vitest'
import type { UnknownBlock } from '../../common/agent/messages.js'
import type { ModelDelta } from '../provider.js'
import { parseStreamEvent } from './events.js'
import { ReplyBuilder } from './reply.js'

const usage = { input_tokens: 1, output_tokens: 1 }

function add(reply: ReplyBuilder, value: object): ModelDelta | undefined {
  const event = parseStreamEvent(value)
  return event && event.type !== 'error' ? reply.add(event) : undefined
}

/** The deltas of a reply whose blocks arrive in these pieces. */
function deltasOf(...blocks: readonly { readonly opening: UnknownBlock; readonly deltas: readonly UnknownBlock[] }[]) {
  const reply = new ReplyBuilder()
  const found: (ModelDelta | undefined)[] = [
    add(reply, { type: 'message_start', message: { model: 'm', content: [], stop_reason: null, usage } }),
  ]
  for (const [index, { opening, deltas }] of blocks.entries()) {
    found.push(add(reply, { type: 'content_block_start', index, content_block: opening }))
    for (const delta of deltas) found.push(add(reply, { type: 'content_block_delta', index, delta }))
    found.push(add(reply, { type: 'content_block_stop', index }))
  }
  return found.filter((delta) => delta !== undefined)
}

const json = (...pieces: readonly string[]) =>
  pieces.map((piece) => ({ type: 'input_json_delta', partial_json: piece }))
const toolUse = (name: string) => ({ type: 'tool_use', id: 'a', name, input: {} })

it('returns only text and code while they arrive', () => {
  expect(
    deltasOf(
      { opening: { type: 'thinking', thinking: '' }, deltas: [{ type: 'thinking_delta', thinking: 'hm' }] },
      { opening: { type: 'text', text: 'I ' }, deltas: [{ type: 'text_delta', text: 'run it.' }] },
      { opening: toolUse('execute_code'), deltas: json('', '{"co', 'de": "pri', 'nt(1)\\', 'n"}') },
      { opening: toolUse('pay'), deltas: json('{"code": "no"}') },
      { opening: toolUse('execute_code'), deltas: json('{"code": "x"}') },
    ),
  ).toEqual([
    { type: 'text', block: 1, text: 'I ' },
    { type: 'text', block: 1, text: 'run it.' },
    { type: 'code', block: 2, text: 'pri' },
    { type: 'code', block: 2, text: 'nt(1)' },
    { type: 'code', block: 2, text: '\n' },
    { type: 'code', block: 4, text: 'x' },
  ])
})

it('streams the code that the API executes', () => {
  const opening = { type: 'server_tool_use', id: 's', name: 'code_execution', input: {} }
  expect(deltasOf({ opening, deltas: json('{"code": "print', '(1)"}') })).toEqual([
    { type: 'code', block: 0, text: 'print' },
    { type: 'code', block: 0, text: '(1)' },
  ])
})

const container = { id: 'container_1', expires_at: '2026-11-25T12:00:00Z' }
const found = { container: { id: 'container_1', expiresAt: '2026-11-25T12:00:00Z' } }

it('finds the container at the end of a stream', () => {
  const reply = new ReplyBuilder()
  add(reply, { type: 'message_start', message: { model: 'm', content: [], stop_reason: null, usage } })
  add(reply, { type: 'message_delta', delta: { stop_reason: 'tool_use', container }, usage })
  add(reply, { type: 'message_stop' })
  expect(reply.finish()).toMatchObject(found)
})

it('accepts a message that is complete at its start, as after further calls of code', () => {
  const call = { ...toolUse('pay'), caller: { type: 'code_execution_20260120', tool_id: 's' } }
  const reply = new ReplyBuilder()
  add(reply, {
    type: 'message_start',
    message: { model: 'm', content: [call], stop_reason: 'tool_use', container, usage },
  })
  add(reply, { type: 'message_stop' })
  expect(reply.finish()).toMatchObject({ content: [call], stopReason: 'tool_use', ...found })
})

/** The reply with one tool use, which begins with an input and goes on with these pieces. */
function useOf(input: unknown, ...pieces: readonly unknown[]) {
  const reply = new ReplyBuilder()
  add(reply, { type: 'content_block_start', index: 0, content_block: { ...toolUse('pay'), input } })
  for (const partial_json of pieces)
    add(reply, { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json } })
  add(reply, { type: 'message_stop' })
  return reply.finish().content
}

it.each([
  ['a text', {}, ['{"to":', '"ada"}']],
  ['an object', {}, [{ to: 'ada' }]],
  ['the begin of the block', { to: 'ada' }, []],
  ['the begin of the block, and an empty text', { to: 'ada' }, ['']],
  ['the begin of the block, and an empty object as text', { to: 'ada' }, ['{}']],
  ['the begin of the block, and an empty object', { to: 'ada' }, [{}]],
  ['the begin of the block, and again as text', { to: 'ada' }, ['{"to":"ada"}']],
])('reads the input of a tool use that is in %s', (_what, input, pieces) => {
  expect(useOf(input, ...pieces)).toEqual([{ type: 'tool_use', id: 'a', name: 'pay', input: { to: 'ada' } }])
})

it.each([[[1]], [7], [false]])('tells the model about an input that is %j', (piece) => {
  expect(useOf({}, piece)).toMatchObject([{ input: { invalid_json: JSON.stringify(piece) } }])
})

it('reports code that comes as an object', () => {
  expect(
    deltasOf({ opening: toolUse('execute_code'), deltas: [{ type: 'input_json_delta', partial_json: { code: 'x' } }] }),
  ).toEqual([{ type: 'code', block: 0, text: 'x' }])
})

it('takes texts as numbers of blocks', () => {
  const reply = new ReplyBuilder()
  for (const index of ['0', '1'])
    add(reply, { type: 'content_block_start', index, content_block: { type: 'text', text: '' } })
  for (const index of ['0', '1'])
    add(reply, { type: 'content_block_delta', index, delta: { type: 'text_delta', text: index } })
  add(reply, { type: 'message_stop' })
  expect(reply.finish().content).toEqual([
    { type: 'text', text: '0' },
    { type: 'text', text: '1' },
  ])
})

function stoppedBy(stop_reason: string | null) {
  const reply = new ReplyBuilder()
  add(reply, { type: 'message_start', message: { model: 'm', content: [], stop_reason: null, usage } })
  const input = { type: 'input_json_delta', partial_json: '{"to":"ad' }
  if (stop_reason !== null) {
    add(reply, { type: 'content_block_start', index: 0, content_block: toolUse('pay') })
    add(reply, { type: 'content_block_delta', index: 0, delta: input })
    add(reply, { type: 'message_delta', delta: { stop_reason } })
  }
  add(reply, { type: 'message_stop' })
  return reply.finish()
}

it.each([
  ['length', 'max_tokens'],
  ['content_filter', 'refusal'],
  ['max_tokens', 'max_tokens'],
])('a reply cut by %s has the stop reason %s, and no partial input', (given, stopReason) => {
  expect(stoppedBy(given)).toMatchObject({ stopReason, content: [{ input: {} }] })
  expect(stoppedBy(given).content[0]).not.toHaveProperty('input_problem')
})

it.each([
  ['abort', 'MODEL_SERVER'],
  ['error', 'MODEL_SERVER'],
  // A whole stream without anything.
  [null, 'MODEL_REPLY_INVALID'],
])('a reply that stops with %j is %s', (given, code) => {
  expect(() => stoppedBy(given)).toThrow(expect.objectContaining({ code }))
})
