import { setTimeout as delay } from 'node:timers/promises'
import { waitForAbort } from '../common/async/abort.js'
import { rejectOnUncaught, runWork } from '../common/async/uncaught-errors.js'
import { messageOf } from '../common/errors.js'
import { metrics } from '../common/telemetry/metrics.js'
import type { EntryCodec } from './entry-codec.js'
import type { StreamData, StreamRecord } from './events.js'
import { type StreamSink, streamName } from './sink.js'

export interface PublisherOptions {
  readonly sink: StreamSink
  readonly namespace: string
  readonly codec: EntryCodec
  /** Receives one message for each time in which the sink fails. */
  readonly onTrouble: (message: string) => void
  /** Characters of text that may wait for the sink. Default 4 Mi. */
  readonly maxWaiting?: number
  /** Milliseconds after which an event that still waits is dropped. Default 5 minutes. */
  readonly maxAgeMs?: number
}

/** Who publishes. */
export interface AttemptOrigin extends Pick<StreamRecord, 'runId' | 'unit' | 'attempt'> {
  readonly workflowId: string
  /** Default 0. */
  readonly epoch?: number
}

/** Publishes what an attempt at a unit does. Never throws, and never waits. */
export type Publish = (data: StreamData) => void

/** Records of a stream are written together, at most this often. */
const writeIntervalMs = 50
const retryMs = { initial: 100, maximum: 5_000 } as const
const maxBatch = 200
/** Characters of one record, as far as deltas are joined. */
const maxJoined = 8_192
/** Characters that count for a record beside its text. */
const recordCharacters = 200
const closeMs = 2_000

const sinkWork = { name: 'the sink of the live stream', isShared: true }

interface Queue {
  readonly records: StreamRecord[]
  /** Undefined: nobody writes, and there is nothing to write. */
  writing: Promise<void> | undefined
}

/**
 * Publishes the events of this worker's activities: appends them to the sink beside the activities. While the sink
 * fails or is slow, records wait in memory; when too many wait, new ones are dropped. A reader learns of it by their
 * numbers.
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
      // An error of the sink does not belong to the activity that happens to start it.
      queue.writing ??= runWork({ ...sinkWork, fail: () => false }, () => this.#write(stream, queue))
    }
  }

  /** Writes what waits, for at most two seconds. The sink stays open. Idempotent. */
  async close(): Promise<void> {
    const writing = [...this.#queues.values()].map((queue) => queue.writing ?? Promise.resolve())
    const timer = setTimeout(() => this.#closing.abort(), closeMs)
    await Promise.race([Promise.all(writing), waitForAbort(this.#closing.signal)])
    clearTimeout(timer)
  }

  /** Writes until nothing waits. Never rejects. */
  async #write(stream: string, queue: Queue): Promise<void> {
    let waitMs: number = retryMs.initial
    // What the activity publishes in the same turn of the event loop is written together.
    await Promise.resolve()
    while (queue.records.length > 0) {
      const batch = queue.records.splice(0, maxBatch)
      try {
        const entries = await Promise.all(batch.map((each) => this.#options.codec.encode(each)))
        await rejectOnUncaught(sinkWork, () => this.#options.sink.append(stream, entries))
        this.#waiting -= batch.reduce((sum, record) => sum + sizeOf(record), 0)
        waitMs = retryMs.initial
        this.#isTroubled = false
        if (queue.records.length < maxBatch) await this.#pause(writeIntervalMs)
      } catch (thrown) {
        queue.records.unshift(...batch)
        this.#reportTrouble(messageOf(thrown))
        this.#dropOld(queue)
        if (this.#closing.signal.aborted) break
        await this.#pause(waitMs)
        waitMs = Math.min(2 * waitMs, retryMs.maximum)
      }
    }
    this.#queues.delete(stream)
    this.#dropFirst(queue, queue.records.length, 'the worker ends')
  }

  /** One stream that can never be written must not take the memory of all. */
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

  /** Ends early when the publisher is closed. */
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

/** One event for two pieces of the same text, or for two that replace each other; undefined when they are neither. */
function join(last: StreamData, data: StreamData): StreamData | undefined {
  if (data.type === 'output.partial' && last.type === 'output.partial') return data
  if (data.type !== 'text' && data.type !== 'code') return undefined
  if (last.type !== data.type || last.block !== data.block) return undefined
  return last.text.length + data.text.length > maxJoined ? undefined : { ...last, text: last.text + data.text }
}

function sizeOf({ data }: StreamRecord): number {
  return recordCharacters + textLength(data)
}

function textLength(data: StreamData): number {
  return 'text' in data ? data.text.length : 0
}
