import { expect, test } from 'vitest'
import type { StreamEvent } from './event-stream.js'
import type { Fault } from '../script/faults.js'
import { planResponse, type ResponseStep } from './plan-response.js'

function event(name: string, block: number | null = null): StreamEvent {
  return { name, block, text: `<${name}>` }
}

const events: readonly StreamEvent[] = [
  event('message_start'),
  event('content_block_start', 0),
  event('content_block_delta', 0),
  event('content_block_stop', 0),
  event('content_block_start', 1),
  { name: 'content_block_delta', block: 1, text: '<a>' },
  { name: 'content_block_delta', block: 1, text: '<b>' },
  { name: 'content_block_delta', block: 1, text: '<c>' },
  { name: 'content_block_delta', block: 1, text: '<d>' },
  event('content_block_stop', 1),
  event('message_stop'),
]
const all = events.map(({ text }) => text).join('')

function plan(faults: readonly Fault[], msPerChunk = 0, body = events): readonly ResponseStep[] {
  return planResponse({ requestId: 'req_1', contentType: 'text/event-stream', events: body, msPerChunk }, faults)
}

function sent(steps: readonly ResponseStep[]): string {
  return Buffer.concat(steps.flatMap((step) => (step.type === 'write' ? [step.bytes] : []))).toString()
}

test('a response without faults is sent completely and then ended', () => {
  const steps = plan([])

  expect(steps[0]).toMatchObject({ type: 'head', status: 200 })
  expect(sent(steps)).toBe(all)
  expect(steps.at(-1)).toEqual({ type: 'finish', mode: 'end' })
})

test('msPerChunk waits before each event of a stream', () => {
  expect(plan([], 5).filter(({ type }) => type === 'wait')).toHaveLength(events.length)
})

test.each([
  ['after bytes', { bytes: 17 }, '<message_start><c'],
  ['after no byte', { bytes: 0 }, ''],
  ['inside a block', { insideBlock: 1 }, all.slice(0, all.indexOf('<c>'))],
  ['inside a block of one delta', { insideBlock: 0 }, all.slice(0, all.indexOf('<content_block_stop>'))],
  ['before an event', { before: 'message_stop' }, all.slice(0, -'<message_stop>'.length)],
  ['before an event that never comes', { before: 'message_delta' }, all],
  ['inside a block that does not exist', { insideBlock: 7 }, all],
])('cuts a response %s', (_name, at, expected) => {
  const steps = plan([{ type: 'cut', at }])

  expect(sent(steps)).toBe(expected)
  expect(steps.at(-1)).toEqual({ type: 'finish', mode: 'close' })
})

test('cuts a JSON body in its middle', () => {
  expect(sent(plan([{ type: 'cut', at: { before: 'message_stop' } }], 0, [event('eight_')]))).toBe('<eig')
})

test('a cut by bytes can split a character', () => {
  const steps = plan([{ type: 'cut', at: { bytes: 2 } }], 0, [{ name: 'body', block: null, text: 'aé' }])

  expect(steps[1]).toEqual({ type: 'write', bytes: Buffer.from('aé').subarray(0, 2) })
})

test('delays add up before the first byte, with any other fault', () => {
  const steps = plan([
    { type: 'delay', ms: 3 },
    { type: 'status', status: 529 },
    { type: 'delay', ms: 4 },
  ])

  expect(steps.slice(0, 3)).toMatchObject([{ ms: 3 }, { ms: 4 }, { type: 'head', status: 529 }])
})

test('a status fault has the error type, text and retry header of the API', () => {
  const steps = plan([{ type: 'status', status: 529 }])

  expect(steps[0]).toMatchObject({ headers: { 'x-should-retry': 'true' } })
  expect(sent(steps)).toBe(
    '{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"},"request_id":"req_1"}',
  )
})

test('garbage is inserted, and the rest of the response follows', () => {
  const steps = plan([{ type: 'garbage', at: { before: 'message_stop' }, text: '???' }])

  expect(sent(steps)).toBe(all.replace('<message_stop>', '???<message_stop>'))
})
