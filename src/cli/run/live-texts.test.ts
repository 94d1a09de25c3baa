import { expect, it } from 'vitest'
import type { StreamEvent } from '../../stream/index.js'
import { liveTexts } from './live-texts.js'

const fields = { attempt: 1, offset: '0', time: 0 }
const begins = (turn: number, message: string): StreamEvent => {
  return {
    type: 'turn.started',
    unit: `turn/${turn}`,
    turn,
    model: 'm',
    messages: 0,
    committedTurns: 0,
    message,
    ...fields,
  }
}
const piece = (turn: number, text: string, block = 0): StreamEvent => {
  return { type: 'text.delta', unit: `turn/${turn}`, turn, block, text, ...fields }
}
const ends = (turn: number): StreamEvent => {
  return { type: 'turn.completed', unit: `turn/${turn}`, turn, model: 'm', stopReason: 'end_turn', ...fields }
}

async function textsOf(events: readonly StreamEvent[], message?: string) {
  async function* stream() {
    yield* events
  }
  const texts: (string | undefined)[] = []
  const shown = message === undefined ? undefined : (event: { readonly message?: string }) => event.message === message
  for await (const liveText of liveTexts(stream(), shown)) texts.push(liveText?.text)
  return texts
}

it('joins the pieces of a live text, and has none between turns', async () => {
  const events = [begins(1, 'a'), piece(1, 'He'), piece(1, 'llo'), piece(1, 'code', 1), ends(1)]
  expect(await textsOf(events)).toEqual([undefined, 'He', 'Hello', 'code', undefined])
})

it('a live text starts again after a reset', async () => {
  const reset: StreamEvent = { type: 'reset', unit: 'turn/1', since: '0', offset: '0', time: 0 }
  expect(await textsOf([begins(1, 'a'), piece(1, 'He'), reset, piece(1, 'Hi')])).toEqual([
    undefined,
    'He',
    undefined,
    'Hi',
  ])
})

it('shows the output of running code until the output is complete', async () => {
  const printed = (type: 'output.delta' | 'output.preview', text: string): StreamEvent => {
    return { type, unit: 'step/s/1', text, ...fields }
  }
  const events = [printed('output.preview', '1'), printed('output.preview', '1 2'), printed('output.delta', '1 2 3')]
  expect(await textsOf(events)).toEqual(['1', '1 2', undefined])
})

it('leaves out the live texts of turns for other messages', async () => {
  const events = [begins(1, 'a'), piece(1, 'no'), ends(1), begins(2, 'b'), piece(2, 'yes')]
  expect(await textsOf(events, 'b')).toEqual([undefined, 'yes'])
})
