import { expect, it } from 'vitest'
import type { ConversationAnswer } from '../../client/index.js'
import type { StreamEvent } from '../../stream/index.js'
import { Deferred } from '../../../test/support/tools.js'
import { type MessageEvent, messageEvents } from './message-events.js'

const answer: ConversationAnswer = {
  status: 'answered',
  answer: 'yes',
  isTakenBack: false,
  message: 1,
  turns: 1,
  cells: 0,
  toolCalls: 0,
  isNew: false,
}

const fields = { attempt: 1, time: 0 }
const begins = (turn: number, message: string): StreamEvent => {
  return {
    type: 'turn.started',
    unit: `turn/${turn}`,
    turn,
    model: 'm',
    messages: 0,
    committedTurns: 0,
    message,
    offset: `${turn}.0`,
    ...fields,
  }
}
const text = (turn: number, piece: string): StreamEvent => {
  return { type: 'text.delta', unit: `turn/${turn}`, turn, block: 0, text: piece, offset: `${turn}.1`, ...fields }
}
const ends = (turn: number): StreamEvent => {
  return {
    type: 'turn.completed',
    unit: `turn/${turn}`,
    turn,
    model: 'm',
    stopReason: 'end_turn',
    offset: `${turn}.2`,
    ...fields,
  }
}

/** A stream of these events that then waits without end, like the stream of an open conversation. */
async function* openStream(...events: readonly StreamEvent[]): AsyncGenerator<StreamEvent, void, undefined> {
  yield* events
  await new Promise(() => undefined)
}

async function collect(events: AsyncIterable<MessageEvent>): Promise<readonly MessageEvent[]> {
  const collected: MessageEvent[] = []
  for await (const event of events) collected.push(event)
  return collected
}

const offsetsOf = (events: readonly MessageEvent[]) =>
  events.map((each) =>
    each.type === 'answer' ? each.answer.answer : each.type === 'quiet' ? 'quiet' : each.event.offset,
  )

it('delivers the events of the turns for a message, and then its answer', async () => {
  const events = openStream(begins(1, 'other'), text(1, 'x'), ends(1), begins(2, 'mine'), text(2, 'y'), ends(2))
  const found = await collect(messageEvents({ id: 'mine', events, answer: Promise.resolve(answer) }))
  expect(offsetsOf(found)).toEqual(['2.0', '2.1', '2.2', 'yes'])
})

it('the events of a message end when the next message begins, without a wait', async () => {
  const events = openStream(begins(1, 'mine'), ends(1), begins(2, 'next'), text(2, 'z'))
  const found = await collect(messageEvents({ id: 'mine', events, answer: Promise.resolve(answer) }))
  expect(offsetsOf(found)).toEqual(['1.0', '1.2', 'yes'])
})

it('delivers the answer of a message without events, such as one that joined another message', async () => {
  const late = { ...begins(2, 'other'), time: Date.now() + 60_000 }
  const events = openStream(begins(1, 'first'), ends(1), late)
  const found = await collect(messageEvents({ id: 'joined', events, answer: Promise.resolve(answer) }))
  expect(offsetsOf(found)).toEqual(['yes'])
})

it('waits for the answer when the stream of events fails', async () => {
  const answered = new Deferred<ConversationAnswer>()
  async function* failing(): AsyncGenerator<StreamEvent, void, undefined> {
    yield begins(1, 'mine')
    answered.resolve(answer)
    throw new Error('no stream')
  }
  const found = await collect(messageEvents({ id: 'mine', events: failing(), answer: answered.promise }))
  expect(offsetsOf(found)).toEqual(['1.0', 'yes'])
})

it('the events of a message fail with the error of its answer', async () => {
  const events = openStream(begins(1, 'mine'), ends(1), { type: 'end', status: 'failed', offset: '1.2', time: 0 })
  const failing = collect(messageEvents({ id: 'mine', events, answer: Promise.reject(new Error('closed')) }))
  await expect(failing).rejects.toThrow('closed')
})

it('reports a quiet stream while the caller waits for that, and continues', async () => {
  const answered = new Deferred<ConversationAnswer>()
  const gate = new Deferred()
  async function* events() {
    yield begins(1, 'mine')
    await gate.promise
    yield ends(1)
    answered.resolve(answer)
    await new Promise(() => undefined)
  }
  const found: MessageEvent[] = []
  let waits = true
  const sources = { id: 'mine', events: events(), answer: answered.promise, isWaiting: () => waits }
  for await (const each of messageEvents(sources)) {
    found.push(each)
    if (each.type !== 'quiet') continue
    waits = false
    gate.resolve()
  }
  expect(offsetsOf(found)).toEqual(['1.0', 'quiet', '1.2', 'yes'])
})
