import { setTimeout as delay } from 'node:timers/promises'
import { waitForAbort } from '../common/async/abort.js'
import { rejectOnUncaught, runWork } from '../common/async/uncaught-errors.js'
import { messageOf } from '../common/errors.js'
import { metrics } from '../common/telemetry/metrics.js'
import type { EntryCodec } from './entry-codec.js'
import type { StreamData, StreamRecord } from './events.js'
import { type StreamSink, streamName } from './sink.js'

interface PublisherOptions {
  readonly sink: StreamSink
  readonly namespace: string
  readonly codec: EntryCodec
  /** Receives one message for each period in which the sink fails. */
  readonly onTrouble: (message: string) => void
  /** Characters of text that may wait for the sink. Default 4 Mi. */
  readonly maxWaiting?: number
  /** Milliseconds after which a waiting event is dropped. Default 5 minutes. */
  readonly maxAgeMs?: number
}

/** The attempt that publishes. */
interface AttemptOrigin extends Pick<StreamRecord, 'runId' | 'unit' | 'attempt'> {
  readonly workflowId: string
  /** Default 0. */
  readonly epoch?: number
}

/** Publishes data of an attempt at a unit. Never throws, and never waits. */
export type Publish = (data: StreamData) => void

/** Milliseconds between two writes to a stream. Records are collected in between. */
const writeIntervalMs = 50
/** Maximum milliseconds that a worker waits after a failed write before it writes again. */
export const maxWriteRetryMs = 5_000
const initialRetryMs = 100
const maxBatch = 200
/** Maximum characters of a record that joins several deltas. */
const maxJoined = 8_192
/** Characters that a record counts for in addition to its text. */
const recordCharacters = 200
const closeMs = 2_000

const sinkWork = { name: 'the sink of the live stream', isShared: true }

interface Queue {
  readonly records: StreamRecord[]
  /** Undefined: no write is in progress, and no record waits. */
  writing: Promise<void> | undefined
}

/**
 * Publishes the events of this worker's activities: appends them to the sink in parallel to the activities. While the
 * sink fails or is slow, records wait in memory. When too many wait, new ones are dropped. A reader notices this by
 * their numbers.
 */
export class StreamPublisher {
  readonly #options: PublisherOptions
  readonly #queues = new Map<string, Queue>()
  #waiting = 0
  #isTroubled = false
  readonly #closing = new AbortController()

  constructor(options: PublisherOptions) {
    this.#options = options
  }

  attempt({ workflowId, runId, unit, attempt, epoch = 0 }: AttemptOrigin): Publish {
    const stream = streamName(this.#options.namespace, workflowId)
    let number = 0
    return (data) => {
      const queue: Queue = this.#queues.get(stream) ?? { records: [], writing: undefined }
      const last = queue.records.at(-1)
      const joined = last && isOf(last, { runId, unit, attempt, epoch, number }) ? join(last.data, data) : undefined
      if (last && joined) {
        queue.records[queue.records.length - 1] = { ...last, data: joined }
        this.#waiting += textLength(joined) - textLength(last.data)
        return
      }
      number += 1
      const record = { runId, unit, epoch, attempt, number, time: Date.now(), data }
      if (this.#waiting > (this.#options.maxWaiting ?? 4 * 1024 * 1024)) {
        this.#drop(1, 'too many events wait for its store')
        return
      }
      this.#queues.set(stream, queue)
      queue.records.push(record)
      this.#waiting += sizeOf(record)
      // An error of the sink does not belong to the activity that starts the write.
      queue.writing ??= runWork({ ...sinkWork, fail: () => false }, () => this.#write(stream, queue))
    }
  }

  /** Writes the waiting records, for at most two seconds. The sink stays open. Idempotent. */
  async close(): Promise<void> {
    const writing = [...this.#queues.values()].map((queue) => queue.writing ?? Promise.resolve())
    const timer = setTimeout(() => this.#closing.abort(), closeMs)
    await Promise.race([Promise.all(writing), waitForAbort(this.#closing.signal)])
    clearTimeout(timer)
  }

  /** Writes until no record waits. Never rejects. */
  async #write(stream: string, queue: Queue): Promise<void> {
    let waitMs: number = initialRetryMs
    // Records that the activity publishes in the same turn of the event loop are written together.
    await Promise.resolve()
    while (queue.records.length > 0) {
      const batch = queue.records.splice(0, maxBatch)
      try {
        const entries = await Promise.all(batch.map((each) => this.#options.codec.encode(each)))
        await rejectOnUncaught(sinkWork, () => this.#options.sink.append(stream, entries))
        this.#waiting -= batch.reduce((sum, record) => sum + sizeOf(record), 0)
        waitMs = initialRetryMs
        this.#isTroubled = false
        if (queue.records.length < maxBatch) await this.#pause(writeIntervalMs)
      } catch (thrown) {
        queue.records.unshift(...batch)
        this.#reportTrouble(messageOf(thrown))
        this.#dropOld(queue)
        if (this.#closing.signal.aborted) break
        await this.#pause(waitMs)
        waitMs = Math.min(2 * waitMs, maxWriteRetryMs)
      }
    }
    this.#queues.delete(stream)
    this.#dropFirst(queue, queue.records.length, 'the worker ends')
  }

  /** One stream that can't be written must not use the memory of all streams. */
  #dropOld(queue: Queue): void {
    const oldest = Date.now() - (this.#options.maxAgeMs ?? 300_000)
    const kept = queue.records.findIndex(({ time }) => time >= oldest)
    this.#dropFirst(queue, kept === -1 ? queue.records.length : kept, 'events are too old')
  }

  #dropFirst(queue: Queue, count: number, why: string): void {
    const lost = queue.records.splice(0, count)
    this.#waiting -= lost.reduce((sum, record) => sum + sizeOf(record), 0)
    if (lost.length > 0) this.#drop(lost.length, why)
  }

  /** Returns early when the publisher is closed. */
  async #pause(ms: number): Promise<void> {
    await delay(ms, undefined, { signal: this.#closing.signal }).catch(() => undefined)
  }

  #drop(count: number, why: string): void {
    metrics.add('ptc_stream_dropped_total', count, {})
    this.#reportTrouble(why)
  }

  #reportTrouble(why: string): void {
    if (this.#isTroubled) return
    this.#isTroubled = true
    this.#options.onTrouble(`the live stream can't be written, and its events wait or are dropped: ${why}`)
  }
}

function isOf(record: StreamRecord, { runId, unit, attempt, epoch, number }: Omit<StreamRecord, 'data' | 'time'>) {
  return (
    record.number === number &&
    record.unit === unit &&
    record.attempt === attempt &&
    record.epoch === epoch &&
    record.runId === runId
  )
}

/**
 * Joins two pieces of the same text, or two events of which the second replaces the first. Otherwise returns undefined.
 */
function join(last: StreamData, data: StreamData): StreamData | undefined {
  if (data.type === 'output.preview' && last.type === 'output.preview') return data
  if (data.type !== 'text.delta' && data.type !== 'code.delta') return undefined
  if (last.type !== data.type || last.block !== data.block) return undefined
  return last.text.length + data.text.length > maxJoined ? undefined : { ...last, text: last.text + data.text }
}

function sizeOf({ data }: StreamRecord): number {
  return recordCharacters + textLength(data)
}

function textLength(data: StreamData): number {
  return 'text' in data ? data.text.length : 0
}
