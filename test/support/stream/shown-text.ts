import type { StreamEvent } from '../../../src/stream/index.js'

/** The text that a consumer shows: it knows of the events nothing but the rules of docs/guides/streaming.md. */
export function shownText(events: readonly StreamEvent[], type: 'text' | 'code' | 'output' = 'text'): string {
  let shown: readonly { readonly unit: string; readonly text: string }[] = []
  for (const event of events) {
    if (event.type === 'reset') shown = shown.filter(({ unit }) => unit !== event.unit)
    else if (event.type === type) shown = [...shown, event]
  }
  return shown.map(({ text }) => text).join('')
}

/** All events of a stream, to its end. */
export async function readEvents(stream: AsyncIterable<StreamEvent>): Promise<readonly StreamEvent[]> {
  const events: StreamEvent[] = []
  for await (const event of stream) events.push(event)
  return events
}
