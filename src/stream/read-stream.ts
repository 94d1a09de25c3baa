import { setTimeout as delay } from 'node:timers/promises'
import { raceWithSignal, withTimeLimit } from '../common/async/abort.js'
import { PtcError } from '../common/errors.js'
import type { EntryCodec } from './entry-codec.js'
import type { RunEnd, StreamEvent } from './events.js'
import { parseOffset, ReaderState } from './reader-state.js'
import type { StreamEntry, StreamReader, StreamSink } from './sink.js'

export interface ReadStreamOptions {
  readonly sink: StreamSink
  /** Of {@link streamName}. */
  readonly stream: string
  readonly codec: EntryCodec
  /** Offset of the event to continue after. Undefined: from the beginning. */
  readonly from: string | undefined
  readonly signal: AbortSignal
  /** Whether an execution is one of the run: others may have the same workflow id. */
  readonly isOfRun: (runId: string) => Promise<boolean>
  /** Resolves when the run has ended, whatever the sink does. */
  readonly ended: Promise<RunEnd>
}

/** The offset before the first event. */
export const startOffset = '0'

/** Whether a text may be the offset of an event. */
export function isOffset(text: string): boolean {
  return text === startOffset || parseOffset(text) !== undefined
}

/** How long a read waits for an entry. The end of the run is noticed after it. */
const waitMs = 250
/** After the end of a run its last records may still be on their way: this long without any, the stream ends. */
const settleMs = 300
/** The same when a turn or a call has not ended. */
const openSettleMs = 3_000
/** A read that takes this much longer than it may wait has failed: a sink that hangs must not hide the end. */
const hangMs = 6_000
const retryMs = { initial: 100, maximum: 2_000 } as const
/** Failed reads in a row after the end of the run. */
const maxFailuresAtEnd = 3

/**
 * The events of a run, from an offset, as they happen. The last one is `end`, also when the sink fails: then a `gap`
 * comes before it.
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
      if (entries && entries.length > 0) lastEntryAt = performance.now()
      else if (entries && resume.isSkipping) {
        // Its entry has expired or was trimmed: everything that is there came after it.
        yield { type: 'gap', offset, time: Date.now() }
        for (const event of resume.giveUp()) {
          ;({ offset } = event)
          yield event
        }
      } else if (end) {
        const idleMs = performance.now() - Math.max(lastEntryAt, end.at)
        const isSettled = entries !== undefined && idleMs > (state.hasOpenUnits ? openSettleMs : settleMs)
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
  /** By `performance.now`. */
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

/** Skips the events up to an offset. The state of the reader sees their records. */
class Resume {
  #from: { readonly id: string; readonly index: number } | undefined
  #skipped: StreamEvent[] = []

  /** @throws PtcError RUN_INPUT_INVALID */
  constructor(offset: string) {
    if (offset === startOffset) return
    this.#from = parseOffset(offset)
    if (this.#from === undefined) {
      throw new PtcError('RUN_INPUT_INVALID', `${JSON.stringify(offset)} is no offset of a stream`, {
        hint: 'Give the `offset` of an event of this run.',
      })
    }
  }

  get isSkipping(): boolean {
    return this.#from !== undefined
  }

  /** Of the events of an entry, those after the offset. */
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

  /** The offset was not found: returns what was skipped. */
  giveUp(): readonly StreamEvent[] {
    this.#from = undefined
    return this.#skipped.splice(0)
  }
}

/** Reads on after a failure, where it was. */
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

  /** Failed reads since the last one that succeeded. */
  get failures(): number {
    return this.#failures
  }

  /** Undefined when it failed. */
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
      // A missing package, for example.
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
