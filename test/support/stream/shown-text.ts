import type { StreamEvent } from '../../../src/stream/index.js'

/** The text that a consumer shows. The consumer only uses the rules of docs/reference/events.md. */
export function shownText(events: readonly StreamEvent[], type: 'text' | 'code' | 'output' = 'text'): string {
  return shownTexts(events, type).join('')
}

/** The shown text of each unit. */
export function shownTexts(
  events: readonly StreamEvent[],
  type: 'text' | 'code' | 'output' = 'text',
): readonly string[] {
  const shown = new Map<string, string>()
  for (const event of events) {
    if (event.type === 'reset') shown.delete(event.unit)
    const isPiece = event.type === 'text.delta' || event.type === 'code.delta' || event.type === 'output.delta'
    if (isPiece && event.type === `${type}.delta`) shown.set(event.unit, (shown.get(event.unit) ?? '') + event.text)
  }
  return [...shown.values()]
}

/** All events of a stream, to its end. */
export async function readEvents(stream: AsyncIterable<StreamEvent>): Promise<readonly StreamEvent[]> {
  const events: StreamEvent[] = []
  for await (const event of stream) events.push(event)
  return events
}
