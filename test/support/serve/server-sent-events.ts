import type { StreamEvent } from '../../../src/stream/index.js'

export interface ServerSentEvent {
  readonly id: string | undefined
  readonly event: StreamEvent
}

/** The events of a response, read by a client of Server-Sent Events. Leaving the loop ends the connection. */
export async function* serverSentEvents({ body }: Response): AsyncGenerator<ServerSentEvent, void, undefined> {
  if (!body) throw new Error('the response has no body')
  let rest = ''
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    const blocks = (rest + piece).split('\n\n')
    rest = blocks.pop() ?? ''
    for (const block of blocks) {
      const lines = block.split('\n')
      const valueOf = (field: string) => lines.find((line) => line.startsWith(`${field}: `))?.slice(field.length + 2)
      const data = valueOf('data')
      if (data !== undefined) yield { id: valueOf('id'), event: JSON.parse(data) as StreamEvent }
    }
  }
}

/** The events up to the first one of a type. */
export async function readUntil(response: Response, type: StreamEvent['type']): Promise<readonly ServerSentEvent[]> {
  const events: ServerSentEvent[] = []
  for await (const each of serverSentEvents(response)) {
    events.push(each)
    if (each.event.type === type) return events
  }
  throw new Error(`the stream ended before ${type}`)
}
