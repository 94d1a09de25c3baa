import { setTimeout as delay } from 'node:timers/promises'
import { raceWithSignal, withTimeLimit } from '../common/async/abort.js'
import { PtcError } from '../common/errors.js'
import type { EntryCodec } from './entry-codec.js'
import type { RunEnd, StreamEvent } from './events.js'
import { maxWriteRetryMs } from './publisher.js'
import { parseOffset, ReaderState } from './reader-state.js'
import type { StreamEntry, StreamReader, StreamSink } from './sink.js'

interface ReadStreamOptions {
  readonly sink: StreamSink
  /** Name of the stream, from {@link streamName}. */
  readonly stream: string
  readonly codec: EntryCodec
  /** Offset of the event after which to continue. Undefined: from the beginning. */
  readonly from: string | undefined
  readonly signal: AbortSignal
  /** Whether an execution belongs to the run. Other runs may have the same workflow id. */
  readonly isOfRun: (runId: string) => Promise<boolean>
  /** Resolves when the run has ended, independently of the sink. */
  readonly ended: Promise<RunEnd>
}

/** The offset before the first event. */
export const startOffset = '0'

/** Whether a text has the form of an event's offset. */
export function isOffset(text: string): boolean {
  return text === startOffset || parseOffset(text) !== undefined
}

/** Milliseconds for which a read waits for an entry. The end of the run is noticed after it. */
const waitMs = 250
/** Milliseconds without a record after which the stream of an ended run ends. The last records may arrive late. */
const settleMs = 300
/** The same limit while a turn or a call has not ended. */
const openSettleMs = 3_000
/** The time after a failed read in which workers may still write what they could not write during the failure. */
const lateMs = maxWriteRetryMs + 1_000
/** Milliseconds after the wait time at which a read counts as failed: a sink that hangs must not hide the end. */
const hangMs = 6_000
const retryMs = { initial: 100, maximum: 2_000 } as const
/** Maximum number of failed reads in a row after the end of the run. */
const maxFailuresAtEnd = 3

/**
 * The events of a run from an offset, as they happen. The last event is `end`. When the sink fails, a `gap` comes
 * before `end`.
 *
 * @throws PtcError RUN_INPUT_INVALID for an invalid offset; ENCRYPTION_KEY_UNAVAILABLE, DECRYPTION_FAILED; what `ended`
 *   and `isOfRun` throw; the signal's reason
 */
export async function* readStream(options: ReadStreamOptions): AsyncGenerator<StreamEvent, void, undefined> {
  const { sink, stream, codec, signal, isOfRun, from = startOffset } = options
  const state = new ReaderState()
  const resume = new Resume(from)
  const run = watchEnd(options.ended)
  const source = new RetryingReader(() => sink.reader(stream), signal)
  let offset = from
  let lastEntryAt = performance.now()
  let lastFailureAt = Number.NEGATIVE_INFINITY
  try {
    for (;;) {
      signal.throwIfAborted()
      const end = run.end()
      const entries = await source.read(resume.isSkipping ? 0 : waitMs)
      for (const { id, text } of entries ?? []) {
        const record = await codec.decode(text)
        const events = record && (await isOfRun(record.runId)) ? state.add(record, id) : []
        for (const event of resume.after(id, events)) {
          ;({ offset } = event)
          yield event
        }
      }
      if (entries === undefined) lastFailureAt = performance.now()
      if (entries && entries.length > 0) lastEntryAt = performance.now()
      else if (entries && resume.isSkipping) {
        // The entry has expired or was trimmed: all existing entries came after it.
        yield { type: 'gap', offset, time: Date.now() }
        for (const event of resume.giveUp()) {
          ;({ offset } = event)
          yield event
        }
      } else if (end) {
        const idleMs = performance.now() - Math.max(lastEntryAt, end.at)
        const mayBeLate = performance.now() - lastFailureAt < lateMs
        const isSettled = entries !== undefined && !mayBeLate && idleMs > (state.hasOpenUnits ? openSettleMs : settleMs)
        const hasFailed = source.failures >= maxFailuresAtEnd
        if (hasFailed) yield { type: 'gap', offset, time: Date.now() }
        if (isSettled || hasFailed) return yield { type: 'end', ...end.run, offset, time: Date.now() }
      }
    }
  } finally {
    await source.close()
  }
}

interface WatchedEnd {
  readonly run: RunEnd
  /** Time by `performance.now`. */
  readonly at: number
}

function watchEnd(ended: Promise<RunEnd>): { readonly end: () => WatchedEnd | undefined } {
  let end: WatchedEnd | undefined
  let failure: { readonly reason: unknown } | undefined
  ended.then(
    (run) => (end = { run, at: performance.now() }),
    (reason: unknown) => (failure = { reason }),
  )
  return {
    end: () => {
      if (failure) throw failure.reason
      return end
    },
  }
}

/** Skips the events up to an offset. The state of the reader is updated with their records. */
class Resume {
  #from: { readonly id: string; readonly index: number } | undefined
  #skipped: StreamEvent[] = []

  /** @throws PtcError RUN_INPUT_INVALID */
  constructor(offset: string) {
    if (offset === startOffset) return
    this.#from = parseOffset(offset)
    if (this.#from === undefined) {
      throw new PtcError('RUN_INPUT_INVALID', `${JSON.stringify(offset)} is not an offset of a stream`, {
        hint: 'Give the `offset` of an event of this run.',
      })
    }
  }

  get isSkipping(): boolean {
    return this.#from !== undefined
  }

  /** The events of an entry that follow the offset. */
  after(id: string, events: readonly StreamEvent[]): readonly StreamEvent[] {
    const from = this.#from
    if (from === undefined) return events
    if (from.id !== id) {
      this.#skipped.push(...events)
      return []
    }
    this.#from = undefined
    this.#skipped = []
    return events.slice(from.index + 1)
  }

  /** Returns the skipped events, because the offset was not found. */
  giveUp(): readonly StreamEvent[] {
    this.#from = undefined
    return this.#skipped.splice(0)
  }
}

/** Continues at the same position after a failed read. */
class RetryingReader {
  readonly #open: () => StreamReader
  readonly #signal: AbortSignal
  #reader: StreamReader
  #id: string | undefined
  #failures = 0

  constructor(open: () => StreamReader, signal: AbortSignal) {
    this.#open = open
    this.#signal = signal
    this.#reader = open()
  }

  /** Number of failed reads since the last one that succeeded. */
  get failures(): number {
    return this.#failures
  }

  /** @returns undefined when the read failed */
  async read(maxWaitMs: number): Promise<readonly StreamEntry[] | undefined> {
    try {
      const reader = this.#reader
      const entries = await withTimeLimit(this.#signal, maxWaitMs + hangMs, (limit) =>
        raceWithSignal(limit, reader.read(this.#id, maxWaitMs)),
      )
      this.#id = entries.at(-1)?.id ?? this.#id
      this.#failures = 0
      return entries
    } catch (thrown) {
      this.#signal.throwIfAborted()
      // An error such as a missing package.
      if (PtcError.isInstance(thrown)) throw thrown
      await this.close()
      this.#reader = this.#open()
      const pauseMs = Math.min(retryMs.initial * 2 ** this.#failures, retryMs.maximum)
      this.#failures += 1
      await delay(pauseMs, undefined, { signal: this.#signal }).catch(() => this.#signal.throwIfAborted())
      return undefined
    }
  }

  async close(): Promise<void> {
    await this.#reader.close().catch(() => undefined)
  }
}
