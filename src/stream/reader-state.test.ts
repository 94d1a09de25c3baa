import { expect, it } from 'vitest'
import { shownText } from '../../test/support/stream/shown-text.js'
import type { StreamData, StreamEvent, StreamRecord } from './events.js'
import { ReaderState } from './reader-state.js'

const begins = (turn: number, committedTurns = 0, messages = 2 * committedTurns): StreamData => {
  return { type: 'turn.started', turn, model: 'm', messages, committedTurns }
}
const text = (turn: number, piece: string): StreamData => ({ type: 'text.delta', turn, block: 0, text: piece })
const ends = (turn: number): StreamData => ({ type: 'turn.completed', turn, model: 'm', stopReason: 'end_turn' })

function record(unit: string, attempt: number, number: number, data: StreamData, more: Partial<StreamRecord> = {}) {
  return { runId: 'r1', unit, epoch: 0, attempt, number, time: 0, data, ...more }
}

/** The events of records, without times. The id of an entry is the position of its record. */
function eventsOf(...records: readonly StreamRecord[]): readonly StreamEvent[] {
  const state = new ReaderState()
  return records.flatMap((each, position) => state.add(each, String(position)))
}

it('gives each event its own offset', () => {
  const events = eventsOf(
    record('turn/1', 1, 1, begins(1)),
    record('turn/1', 1, 2, text(1, 'He')),
    record('turn/1', 2, 1, begins(1)),
  )
  expect(events.map(({ type, offset }) => `${offset} ${type}`)).toEqual([
    '0.0 turn.started',
    '1.0 text.delta',
    '2.0 retry',
    '2.1 reset',
    '2.2 turn.started',
  ])
  expect(events[3]).toMatchObject({ unit: 'turn/1', since: '0.0' })
})

it('ignores records that were stored twice, and records of older attempts', () => {
  const first = [record('turn/1', 1, 1, begins(1)), record('turn/1', 1, 2, text(1, 'Hel'))]
  const second = [record('turn/1', 2, 1, begins(1)), record('turn/1', 2, 2, text(1, 'Hello'))]
  const events = eventsOf(...first, ...first, ...second, record('turn/1', 1, 3, text(1, 'lo')), ...second)
  expect(shownText(events)).toBe('Hello')
  expect(events.filter(({ type }) => type === 'retry')).toHaveLength(1)
})

it('reports missing records', () => {
  const events = eventsOf(record('turn/1', 1, 1, begins(1)), record('turn/1', 1, 4, text(1, 'lo')))
  expect(events.map(({ type }) => type)).toEqual(['turn.started', 'gap', 'text.delta'])
  expect(eventsOf(record('turn/1', 1, 3, ends(1))).map(({ type }) => type)).toEqual(['gap', 'turn.completed'])
})

it('reports a retry whose earlier attempt published nothing', () => {
  const events = eventsOf(record('call/a', 2, 1, begins(1)))
  expect(events.map(({ type }) => type)).toEqual(['retry', 'turn.started'])
})

it('resets a turn whose reply did not become part of the conversation', () => {
  const events = eventsOf(
    record('turn/1', 1, 1, begins(1, 0)),
    record('turn/1', 1, 2, text(1, 'cut o')),
    record('turn/2', 1, 1, begins(2, 0)),
    record('turn/2', 1, 2, text(2, 'whole. ')),
    record('turn/3', 1, 1, begins(3, 1)),
    record('turn/3', 1, 2, text(3, 'next')),
  )
  expect(shownText(events)).toBe('whole. next')
  expect(events.filter(({ type }) => type === 'reset')).toMatchObject([{ unit: 'turn/1', since: '0.0' }])
})

it('does not reset a turn followed by a compaction that left the same number of messages', () => {
  const events = eventsOf(
    record('turn/3', 1, 1, begins(3, 2, 4)),
    record('turn/3', 1, 2, text(3, 'before, ')),
    record('turn/4', 1, 1, begins(4, 3, 4)),
    record('turn/4', 1, 2, text(4, 'cut o')),
    record('turn/5', 1, 1, begins(5, 3, 4)),
    record('turn/5', 1, 2, text(5, 'after')),
  )
  expect(shownText(events)).toBe('before, after')
})

it('does not reset a turn of another plan step that began with the same messages', () => {
  const begin = (turn: number, planStep?: string): StreamData => ({
    type: 'turn.started',
    turn,
    model: 'm',
    messages: 2,
    committedTurns: 1,
    ...(planStep !== undefined && { planStep }),
  })
  const events = eventsOf(
    record('turn/2', 1, 1, begin(2, 'a')),
    record('turn/2', 1, 2, text(2, 'a, ')),
    record('turn/3', 1, 1, begin(3, 'b')),
    record('turn/3', 1, 2, text(3, 'b, ')),
    record('turn/4', 1, 1, begin(4)),
    record('turn/4', 1, 2, text(4, 'answer')),
  )
  expect(shownText(events)).toBe('a, b, answer')
})

it('resets a step whose sandbox was lost, once', () => {
  const cell: StreamData = { type: 'cell.started', cell: 1 }
  const events = eventsOf(
    record('step/s/1', 1, 1, cell, { epoch: 1 }),
    record('step/s/1', 1, 2, { type: 'step.failed' }, { epoch: 1 }),
    record('step/s/1', 1, 1, cell, { epoch: 2 }),
    // A late record of the first sandbox.
    record('step/s/1', 9, 1, cell, { epoch: 1 }),
  )
  expect(events.map(({ type }) => type)).toEqual(['cell.started', 'reset', 'retry', 'cell.started'])
})

it('continues a step that takes longer than the opening of its session, without a retry', () => {
  const unit = 'step/s/1'
  const cell: StreamData = { type: 'cell.started', cell: 1 }
  const preview = (shown: string): StreamData => ({ type: 'output.preview', cell: 1, text: shown })
  const output: StreamData = { type: 'output.delta', cell: 1, text: 'one\ntwo\n' }
  const begun = [record(unit, 0, 1, cell), record(unit, 0, 2, preview('one'))]
  const joining = [record(unit, 1, 1, cell), record(unit, 1, 2, preview('two')), record(unit, 1, 3, output)]
  const events = eventsOf(...begun, ...joining, record(unit, 0, 3, preview('late')))
  expect(events.map(({ type }) => type)).toEqual(['cell.started', 'output.preview', 'output.preview', 'output.delta'])
  const lost = eventsOf(...begun, ...joining, record(unit, 2, 1, cell))
  expect(lost.slice(-3)).toMatchObject([{ type: 'retry' }, { type: 'reset', since: '0.0' }, { type: 'cell.started' }])
  // The output of the result would be there twice.
  const ended = eventsOf(...begun, record(unit, 0, 3, output), ...joining)
  expect(shownText(ended, 'output')).toBe('one\ntwo\n')
  expect(ended.filter(({ type }) => type === 'retry')).toHaveLength(1)
  const elsewhere = eventsOf(...begun, record(unit, 1, 1, cell, { epoch: 1 }))
  expect(elsewhere.map(({ type }) => type).slice(2)).toEqual(['retry', 'reset', 'cell.started'])
})

it('uses the newer execution after a reset of the workflow', () => {
  const events = eventsOf(
    record('turn/1', 3, 1, begins(1)),
    record('turn/1', 3, 2, text(1, 'old')),
    record('turn/1', 1, 1, begins(1), { runId: 'r2' }),
    record('turn/1', 3, 3, text(1, 'late')),
    record('turn/1', 1, 2, text(1, 'new'), { runId: 'r2' }),
  )
  expect(shownText(events)).toBe('new')
})

it('knows whether a turn or call has not ended', () => {
  const state = new ReaderState()
  state.add(record('turn/1', 1, 1, begins(1)), '0')
  expect(state.hasOpenUnits).toBe(true)
  state.add(record('turn/1', 1, 2, ends(1)), '1')
  expect(state.hasOpenUnits).toBe(false)
})
