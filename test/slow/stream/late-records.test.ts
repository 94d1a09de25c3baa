import { expect, it } from 'vitest'
import { Deferred } from '../../support/tools.js'
import { temporaryFolder } from '../../support/folders.js'
import { readEvents, shownText } from '../../support/stream/shown-text.js'
import {
  EntryCodec,
  fileStream,
  readStream,
  type RunEnd,
  StreamPublisher,
  type StreamSink,
} from '../../../src/stream/index.js'

/** A store that can be down. */
class StoppableSink implements StreamSink {
  readonly #sink: StreamSink
  isDown = false
  readonly failed = { appends: 0, reads: 0 }

  constructor(sink: StreamSink) {
    this.#sink = sink
  }

  append(stream: string, entries: readonly string[]): Promise<void> {
    return this.isDown ? this.#fail('appends') : this.#sink.append(stream, entries)
  }

  reader(stream: string) {
    const reader = this.#sink.reader(stream)
    return {
      read: (id: string | undefined, waitMs: number) => (this.isDown ? this.#fail('reads') : reader.read(id, waitMs)),
      close: () => reader.close(),
    }
  }

  remove(stream: string): Promise<void> {
    return this.#sink.remove(stream)
  }

  close(): Promise<void> {
    return this.#sink.close()
  }

  #fail(what: keyof typeof this.failed): Promise<never> {
    this.failed[what] += 1
    return Promise.reject(new Error('the store is down'))
  }
}

it('a reader of a run that ends in an outage of the store gets what workers write after it', async () => {
  const sink = new StoppableSink(fileStream({ folder: await temporaryFolder() }))
  const publisher = new StreamPublisher({ sink, namespace: 'ns', codec: new EntryCodec(), onTrouble: () => undefined })
  const ended = new Deferred<RunEnd>()
  const reading = readEvents(
    readStream({
      sink,
      stream: 'ns/w',
      codec: new EntryCodec(),
      from: undefined,
      signal: new AbortController().signal,
      isOfRun: () => Promise.resolve(true),
      ended: ended.promise,
    }),
  )
  const publish = publisher.attempt({ workflowId: 'w', runId: 'r', unit: 'turn/1', attempt: 1 })
  sink.isDown = true
  publish({ type: 'text.delta', turn: 1, block: 0, text: 'the answer' })
  publish({ type: 'turn.completed', turn: 1, model: 'm', stopReason: 'end_turn' })
  // The publisher waits longer after each failure, now for more than a second.
  await expect.poll(() => sink.failed).toMatchObject({ appends: 5, reads: expect.any(Number) })
  sink.isDown = false
  ended.resolve({ status: 'completed' })
  const events = await reading
  await publisher.close()
  expect(sink.failed.reads).toBeGreaterThan(0)
  expect(shownText(events)).toBe('the answer')
  expect(events.map(({ type }) => type)).toEqual(['text.delta', 'turn.completed', 'end'])
})
