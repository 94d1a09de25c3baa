import { expect } from 'vitest'
import type { RunHandle } from '../../../src/client/index.js'
import type { StreamEvent } from '../../../src/stream/index.js'
import { readEvents, shownTexts } from '../../support/stream/shown-text.js'

/** Events that are not void, which belong to the last attempt at each unit. */
function validEvents(events: readonly StreamEvent[]): readonly StreamEvent[] {
  return events.filter((event, position) => {
    const unit = 'unit' in event ? event.unit : undefined
    const isVoid = events.slice(position + 1).some((later) => later.type === 'reset' && later.unit === unit)
    return unit === undefined || !isVoid
  })
}

type StreamEnd = Extract<StreamEvent, { readonly type: 'end' }>

interface ExpectedStream {
  readonly end: Partial<StreamEnd>
  /** The texts of the model, turn by turn, without void events. */
  readonly texts: readonly string[]
  /** Whether no worker died, so that the texts are complete. */
  readonly isComplete: boolean
  /** Whether workers or the store could be unreachable, so that the last events came after the reader had its end. */
  readonly mayEndEarly?: boolean
}

/**
 * Checks the live stream that was read while workers died: it has an end, no event occurs twice, every reader gets the
 * same events, and a reader that resumes gets the rest. A killed worker may lose the last events that it wrote.
 *
 * @returns the number of events that the reader lacks because it ended early
 */
export async function expectLiveStream(
  events: readonly StreamEvent[],
  handle: Pick<RunHandle<unknown>, 'stream'>,
  { end, texts, isComplete, mayEndEarly = false }: ExpectedStream,
): Promise<number> {
  expect(events.at(-1)).toMatchObject({ type: 'end', ...end })
  expect(events.filter(({ type }) => type === 'end')).toHaveLength(1)
  // A gap and the end have the offset of the event before them.
  const stored = events.filter(({ type }) => type !== 'gap' && type !== 'end')
  expect(new Set(stored.map(({ offset }) => offset)).size).toBe(stored.length)
  const calls = validEvents(events).flatMap((event) => (event.type === 'call.started' ? [event.call] : []))
  expect(new Set(calls).size).toBe(calls.length)
  if (isComplete) expect(shownTexts(events)).toEqual(texts)
  else expectPartsInOrder(shownTexts(events), texts)
  // A gap of the store has the offset of the event before it, and belongs to one reader.
  const isOfReader = ({ type, ...event }: StreamEvent) => type === 'end' || (type === 'gap' && !('unit' in event))
  const ofStream = (read: readonly StreamEvent[]) => read.filter((event) => !isOfReader(event))
  const again = ofStream(await readEvents(handle.stream()))
  const first = ofStream(events)
  expect(mayEndEarly ? again.slice(0, first.length) : again).toEqual(first)
  const half = Math.floor(again.length / 2)
  const { offset: from = '' } = again[half] ?? {}
  expect(ofStream(await readEvents(handle.stream({ from })))).toEqual(again.slice(half + 1))
  return again.length - first.length
}

/** Checks that each shown text is a part of another text, in order. */
function expectPartsInOrder(shown: readonly string[], texts: readonly string[]): void {
  let next = 0
  for (const part of shown) {
    const found = texts.findIndex((whole, index) => index >= next && whole.includes(part))
    expect(found, `${JSON.stringify(part)} is not the next part of ${JSON.stringify(texts)}`).toBeGreaterThanOrEqual(0)
    next = found + 1
  }
}
