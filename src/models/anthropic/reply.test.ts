import { expect, it } from 'vitest'
import type { UnknownBlock } from '../../common/runs/messages.js'
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
