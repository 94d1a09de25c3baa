import type { Payload, PayloadCodec } from '@temporalio/common'
import { expect, it } from 'vitest'
import { temporaryFolder } from '../../test/support/folders.js'
import { readEvents, shownText } from '../../test/support/stream/shown-text.js'
import { Deferred } from '../../test/support/tools.js'
import { EntryCodec, fileStream, readStream, type RunEnd, type StreamEvent, StreamPublisher } from './index.js'
import type { StreamSink } from './sink.js'

const origin = { workflowId: 'w', runId: 'r', unit: 'turn/1', attempt: 1 }
const text = (piece: string) => ({ type: 'text.delta', turn: 1, block: 0, text: piece }) as const
const turnEnds = { type: 'turn.completed', turn: 1, model: 'm', stopReason: 'end_turn' } as const

interface Reading {
  readonly from?: string
  readonly ended?: Promise<RunEnd>
  readonly codec?: EntryCodec
  readonly isOfRun?: (runId: string) => Promise<boolean>
  readonly signal?: AbortSignal
}

function read(sink: StreamSink, { from, ended, codec, isOfRun, signal }: Reading = {}) {
  return readStream({
    sink,
    stream: 'ns/w',
    codec: codec ?? new EntryCodec(),
    from,
    signal: signal ?? new AbortController().signal,
    isOfRun: isOfRun ?? (() => Promise.resolve(true)),
    ended: ended ?? Promise.resolve({ status: 'completed' }),
  })
}

const readAll = (sink: StreamSink, reading: Reading = {}): Promise<readonly StreamEvent[]> =>
  readEvents(read(sink, reading))

function publisherOf(
  sink: StreamSink,
  options: { readonly codec?: EntryCodec; readonly maxWaiting?: number; readonly maxAgeMs?: number } = {},
) {
  const troubles: string[] = []
  const onTrouble = (message: string) => void troubles.push(message)
  const publisher = new StreamPublisher({ sink, namespace: 'ns', codec: new EntryCodec(), onTrouble, ...options })
  return { publisher, troubles }
}

const typesOf = (events: readonly StreamEvent[]): readonly string[] => events.map(({ type }) => type)
/** Fails while the test says so. */
class UnreliableSink implements StreamSink {
  readonly #sink: StreamSink
  /** `after`: the sink reports a failure after it has stored the entries. */
  failure: 'none' | 'before' | 'after' = 'none'
  appends = 0
  stored = 0

  constructor(sink: StreamSink) {
    this.#sink = sink
  }

  async append(stream: string, entries: readonly string[]): Promise<void> {
    this.appends += 1
    if (this.failure === 'before') throw new Error('the store is down')
    await this.#sink.append(stream, entries)
    this.stored += 1
    if (this.failure === 'after') throw new Error('the connection was lost')
  }

  remove(stream: string): Promise<void> {
    return this.#sink.remove(stream)
  }

  reader(stream: string) {
    const reader = this.#sink.reader(stream)
    const check = () => {
      if (this.failure !== 'none') throw new Error('the store is down')
    }
    return {
      read: async (id: string | undefined, waitMs: number) => {
        check()
        return reader.read(id, waitMs)
      },
      close: () => reader.close(),
    }
  }

  close(): Promise<void> {
    return this.#sink.close()
  }
}

it('a stream delivers events while they are published, and the end', async () => {
  const sink = fileStream({ folder: await temporaryFolder() })
  const { publisher } = publisherOf(sink)
  const publish = publisher.attempt(origin)
  const ended = new Deferred<RunEnd>()
  const events = read(sink, { ended: ended.promise })
  for (const piece of ['a', 'b', 'c']) {
    publish(text(piece))
    expect((await events.next()).value).toMatchObject({ type: 'text.delta', text: piece, unit: 'turn/1', attempt: 1 })
  }
  publish(turnEnds)
  ended.resolve({ status: 'failed', error: { code: 'MODEL_AUTH', message: 'no key' } })
  expect((await events.next()).value).toMatchObject({ type: 'turn.completed' })
  expect((await events.next()).value).toMatchObject({ type: 'end', status: 'failed', error: { code: 'MODEL_AUTH' } })
  expect(await events.next()).toMatchObject({ done: true })
})

it('a stream joins waiting pieces of text', async () => {
  const sink = new UnreliableSink(fileStream({ folder: await temporaryFolder() }))
  const { publisher } = publisherOf(sink)
  const publish = publisher.attempt(origin)
  for (let piece = 0; piece < 1_000; piece += 1) publish(text(`${piece} `))
  publish(turnEnds)
  await publisher.close()
  const events = await readAll(sink)
  expect(sink.appends).toBeLessThan(5)
  expect(events.length).toBeLessThan(10)
  expect(shownText(events)).toBe(Array.from({ length: 1_000 }, (_, piece) => `${piece} `).join(''))
})

it('a stream continues after each offset like a reader from the beginning', async () => {
  const sink = fileStream({ folder: await temporaryFolder() })
  const { publisher } = publisherOf(sink)
  for (const attempt of [1, 2, 3]) {
    const publish = publisher.attempt({ ...origin, attempt })
    publish({ type: 'turn.started', turn: 1, model: 'm', messages: 0, committedTurns: 0 })
    publish(text(`attempt ${attempt}`))
    publish({ type: 'turn.progressed', turn: 1, phase: 'thinking' })
    if (attempt === 3) publish(turnEnds)
  }
  publisher.attempt(origin)(turnEnds) // a late record of the first attempt
  await publisher.close()
  const all = await readAll(sink)
  expect(typesOf(all).filter((type) => type === 'reset')).toHaveLength(2)
  expect(new Set(all.slice(0, -1).map(({ offset }) => offset)).size).toBe(all.length - 1)
  const withoutTime = (events: readonly StreamEvent[]) => events.map((event) => ({ ...event, time: 0 }))
  await Promise.all(
    all.map(async ({ offset }, index) => {
      const rest = all.slice(index + 1)
      const expected = rest.length === 0 ? all.slice(-1) : rest
      expect(withoutTime(await readAll(sink, { from: offset }))).toEqual(withoutTime(expected))
    }),
  )
})

it('a stream reports a gap for an expired offset, and delivers all remaining events', async () => {
  const sink = fileStream({ folder: await temporaryFolder() })
  const { publisher } = publisherOf(sink)
  publisher.attempt(origin)(turnEnds)
  await publisher.close()
  expect(typesOf(await readAll(sink, { from: 'other:99.0' }))).toEqual(['gap', 'turn.completed', 'end'])
  await expect(readAll(sink, { from: 'nonsense' })).rejects.toMatchObject({ code: 'RUN_INPUT_INVALID' })
})

it('a stream leaves out other runs with the same workflow id', async () => {
  const sink = fileStream({ folder: await temporaryFolder() })
  const { publisher } = publisherOf(sink)
  publisher.attempt({ ...origin, runId: 'old' })(text('old'))
  const publish = publisher.attempt(origin)
  publish(text('new'))
  publish(turnEnds)
  await publisher.close()
  const isOfRun = (runId: string) => Promise.resolve(runId === 'r')
  expect(shownText(await readAll(sink, { isOfRun }))).toBe('new')
})

it('a reader gets an event once when the sink loses its response', async () => {
  const sink = new UnreliableSink(fileStream({ folder: await temporaryFolder() }))
  const { publisher, troubles } = publisherOf(sink)
  sink.failure = 'after'
  const publish = publisher.attempt(origin)
  publish(text('once'))
  await expect.poll(() => sink.appends).toBeGreaterThan(1)
  sink.failure = 'none'
  publish(turnEnds)
  await publisher.close()
  expect(typesOf(await readAll(sink))).toEqual(['text.delta', 'turn.completed', 'end'])
  expect(troubles).toEqual([expect.stringContaining('the connection was lost')])
})

it('drops events when too many wait, and the reader notices the gap', async () => {
  const sink = new UnreliableSink(fileStream({ folder: await temporaryFolder() }))
  sink.failure = 'before'
  const { publisher, troubles } = publisherOf(sink, { maxWaiting: 1_000 })
  const publish = publisher.attempt(origin)
  for (let piece = 0; piece < 50; piece += 1) publish({ type: 'turn.progressed', turn: 1, phase: 'text' })
  await expect.poll(() => sink.appends).toBeGreaterThan(0)
  sink.failure = 'none'
  // This write empties the buffer.
  await expect.poll(() => sink.stored).toBe(1)
  publish(turnEnds)
  await publisher.close()
  const types = typesOf(await readAll(sink))
  expect(types.slice(-3)).toEqual(['gap', 'turn.completed', 'end'])
  expect(types.length).toBeLessThan(12)
  expect(troubles).toHaveLength(1)
})

it('drops events that have waited for too long, and continues with later ones', async () => {
  const sink = new UnreliableSink(fileStream({ folder: await temporaryFolder() }))
  sink.failure = 'before'
  // Every waiting event is too old.
  const { publisher, troubles } = publisherOf(sink, { maxAgeMs: -1 })
  const publish = publisher.attempt(origin)
  publish(text('old'))
  await expect.poll(() => troubles).toHaveLength(1)
  sink.failure = 'none'
  publish(turnEnds)
  await publisher.close()
  expect(typesOf(await readAll(sink))).toEqual(['gap', 'turn.completed', 'end'])
})

it('a stream has its end while the sink is down, after a gap', async () => {
  const sink = new UnreliableSink(fileStream({ folder: await temporaryFolder() }))
  sink.failure = 'before'
  expect(await readAll(sink)).toMatchObject([{ type: 'gap' }, { type: 'end', status: 'completed' }])
})

it('a reader continues when the sink is available again', async () => {
  const sink = new UnreliableSink(fileStream({ folder: await temporaryFolder() }))
  const { publisher } = publisherOf(sink)
  const publish = publisher.attempt(origin)
  const events = read(sink, { ended: new Deferred<RunEnd>().promise })
  publish(text('a'))
  expect((await events.next()).value).toMatchObject({ text: 'a' })
  sink.failure = 'before'
  const next = events.next()
  publish(text('b'))
  await expect.poll(() => sink.appends).toBeGreaterThan(1)
  sink.failure = 'none'
  expect((await next).value).toMatchObject({ text: 'b' })
  await events.return()
})

it('publishing never throws to the activity, and ends in time, when the sink hangs', async () => {
  const never = new Promise<never>(() => undefined)
  const sink: StreamSink = {
    append: () => never,
    remove: () => never,
    reader: () => ({ read: () => never, close: () => never }),
    close: () => never,
  }
  const { publisher } = publisherOf(sink)
  publisher.attempt(origin)(text('lost'))
  await publisher.close()
})

/** A codec that stands for encryption. */
function codecOf(encode: (data: Uint8Array) => Uint8Array, decode: (data: Uint8Array) => Uint8Array): PayloadCodec {
  const apply = (payloads: readonly Payload[], change: typeof encode) =>
    Promise.resolve(payloads.map((payload) => ({ ...payload, data: change(payload.data ?? new Uint8Array()) })))
  return { encode: (payloads) => apply(payloads, encode), decode: (payloads) => apply(payloads, decode) }
}

it('a reader ends at once when it is aborted, also when the sink hangs', async () => {
  const never = new Promise<never>(() => undefined)
  const reader = { read: () => never, close: () => Promise.resolve() }
  const sink: StreamSink = {
    append: () => never,
    remove: () => never,
    reader: () => reader,
    close: () => Promise.resolve(),
  }
  const controller = new AbortController()
  const reading = readAll(sink, { signal: controller.signal })
  controller.abort(new Error('enough'))
  await expect(reading).rejects.toThrow('enough')
})

it('a stream encrypts everything that the codecs encrypt', async () => {
  const sink = fileStream({ folder: await temporaryFolder() })
  const hide = (data: Uint8Array) => data.map((byte) => byte ^ 7)
  // Codecs are undone in the reverse order.
  const mark = codecOf(
    (data) => Uint8Array.of(1, ...data),
    (data) => data.slice(1),
  )
  const codec = new EntryCodec([codecOf(hide, hide), mark])
  const { publisher } = publisherOf(sink, { codec })
  const publish = publisher.attempt(origin)
  publish(text('secret'))
  publish(turnEnds)
  await publisher.close()
  const entries = await sink.reader('ns/w').read(undefined, 0)
  expect(entries.map((entry) => entry.text).join()).not.toMatch(/secret|c2Vjcm/)
  expect(shownText(await readAll(sink, { codec }))).toBe('secret')
  await expect(readAll(sink)).rejects.toMatchObject({ code: 'ENCRYPTION_KEY_UNAVAILABLE' })
})

it("a stream fails when the end of the run can't be determined", async () => {
  const sink = fileStream({ folder: await temporaryFolder() })
  await expect(readAll(sink, { ended: Promise.reject(new Error('unreachable')) })).rejects.toThrow('unreachable')
})
