import { expect } from 'vitest'
import type { RunHandle } from '../../../src/client/index.js'
import type { StreamEvent } from '../../../src/stream/index.js'
import { readEvents, shownText } from '../../support/stream/shown-text.js'

/** Events that are not void: those of the last attempt at each unit. */
function validEvents(events: readonly StreamEvent[]): readonly StreamEvent[] {
  return events.filter((event, position) => {
    const unit = 'unit' in event ? event.unit : undefined
    const isVoid = events.slice(position + 1).some((later) => later.type === 'reset' && later.unit === unit)
    return unit === undefined || !isVoid
  })
}

/**
 * Expects of the live stream that was read while workers died: its end was said, no event is there twice, every reader
 * gets the same events, and a reader that resumes gets the rest. A killed worker may lose what it wrote last.
 *
 * @param texts what the model wrote, without what was void
 * @param isComplete no worker died: the whole text is there
 */
export async function expectLiveStream(
  events: readonly StreamEvent[],
  handle: Pick<RunHandle<unknown>, 'stream'>,
  texts: string,
  isComplete: boolean,
): Promise<void> {
  expect(events.at(-1)).toMatchObject({ type: 'end', status: 'completed' })
  expect(events.filter(({ type }) => type === 'end')).toHaveLength(1)
  // A gap and the end have the offset of the event before them.
  const stored = events.filter(({ type }) => type !== 'gap' && type !== 'end')
  expect(new Set(stored.map(({ offset }) => offset)).size).toBe(stored.length)
  const calls = validEvents(events).flatMap((event) => (event.type === 'call.begins' ? [event.call] : []))
  expect(new Set(calls).size).toBe(calls.length)
  if (isComplete) expect(shownText(events)).toBe(texts)
  else expect(texts).toContain(shownText(events))
  const withoutEnd = (read: readonly StreamEvent[]) => read.filter(({ type }) => type !== 'end')
  const half = Math.floor(events.length / 2)
  const { offset: from } = events[half] ?? {}
  expect(withoutEnd(await readEvents(handle.stream()))).toEqual(withoutEnd(events))
  expect(withoutEnd(await readEvents(handle.stream({ from: from ?? '' })))).toEqual(withoutEnd(events.slice(half + 1)))
}
