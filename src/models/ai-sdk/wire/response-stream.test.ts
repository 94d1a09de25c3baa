import { expect, it } from 'vitest'
import { stubbedTurn } from '../../../../test/support/models/stubbed-turn.js'

const message = (text: string) => ({ type: 'message', id: 'msg_1', content: [{ type: 'output_text', text }] })
const call = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'a',
  name: 'execute_code',
  arguments: '{"code": "delete_every',
}

/** The events of items, each with one delta. */
const itemEvents = (...items: readonly { readonly type: string }[]) =>
  items.flatMap((item, output_index) => [
    { type: 'response.output_item.added', output_index, item: { ...item, arguments: '' } },
    ...(item.type === 'message'
      ? [{ type: 'response.output_text.delta', output_index, item_id: 'msg_1', delta: 'The total' }]
      : []),
    { type: 'response.output_item.done', output_index, item },
  ])

async function finish(isEnded: boolean, ...events: readonly object[]) {
  const options = { api: 'responses', baseURL: 'https://models.example' } as const
  return (await stubbedTurn(options, [...events, ...(isEnded ? ['[DONE]'] : [])])).reply
}

it.each([
  ['response.incomplete', { incomplete_details: { reason: 'max_output_tokens' } }, 'max_tokens'],
  ['response.incomplete', { incomplete_details: { reason: 'CONTENT_FILTER' } }, 'refusal'],
  ['response.incomplete', { incomplete_details: { reason: 'something_new' } }, 'max_tokens'],
  ['response.incomplete', {}, 'max_tokens'],
  ['response.incomplete', { status: 'incomplete', incomplete_details: null }, 'max_tokens'],
  ['response.completed', { status: 'incomplete' }, 'max_tokens'],
])('a cut reply (%s, %j) has stop reason %s, and no partial input', async (type, members, stopReason) => {
  const output = [message('The total of all invoi'), call]
  const { content, ...reply } = await finish(false, ...itemEvents(...output), {
    type,
    response: { output, ...members },
  })
  expect(reply).toMatchObject({ stopReason })
  expect(content.at(-1)).toEqual({ type: 'tool_use', id: 'a', name: 'execute_code', input: {} })
})

it.each(['failed', 'cancelled'])('a reply with the status %s is an error', async (status) => {
  const completed = { type: 'response.completed', response: { status, output: [message('The total of all invoi')] } }
  await expect(finish(false, completed)).rejects.toMatchObject({ code: 'MODEL_SERVER' })
})

it.each([undefined, 'completed', 'something_new'])('a whole reply may have the status %s', async (status) => {
  const completed = { type: 'response.completed', response: { status, output: [message('Hello')] } }
  expect(await finish(false, ...itemEvents(message('Hello')), completed)).toMatchObject({ stopReason: 'end_turn' })
})

it('an empty stream is cut, or has no reply when its server says that it ends', async () => {
  await expect(finish(false)).rejects.toMatchObject({ code: 'MODEL_STREAM' })
  await expect(finish(true)).rejects.toMatchObject({ code: 'MODEL_REPLY_INVALID' })
})
