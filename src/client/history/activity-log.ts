import type { PayloadReader } from './decode.js'
import { type HistoryEvent, idOf, type PendingActivity, timeOf } from './event.js'
import type { Failure } from './tree.js'
import { type Answer, readAnswer, readWork, type Work } from './work.js'

/** PENDING_ACTIVITY_STATE_STARTED: between two attempts an activity is not. */
const pendingStateStarted = 2

/** One activity of the run, as far as its events have arrived. */
export interface ActivityRecord {
  readonly activityId: string
  readonly summary: string
  readonly scheduledAt: number
  readonly work: Work
  started: boolean
  attempts: number
  lastFailure: Failure | undefined
  /** What blocked the event loop of its worker meanwhile. */
  blocked: string | undefined
  end: ActivityEnd | undefined
}

export type ActivityEnd =
  | { readonly type: 'completed'; readonly at: number; readonly answer: Answer }
  | { readonly type: 'failed' | 'cancelled'; readonly at: number; readonly failure: Failure }

/** The activities of one run, from their events. */
export class ActivityLog {
  readonly #reader: PayloadReader
  readonly #previewCharacters: number
  readonly #byEvent = new Map<number, ActivityRecord>()

  constructor(reader: PayloadReader, previewCharacters: number) {
    this.#reader = reader
    this.#previewCharacters = previewCharacters
  }

  /** In the order in which they were scheduled. */
  get records(): readonly ActivityRecord[] {
    return [...this.#byEvent.values()]
  }

  /** History is silent on an activity until it ends; what the server says of pending ones fills the gap. */
  async readPending(pending: readonly PendingActivity[]): Promise<void> {
    const open = new Map(this.records.filter(({ end }) => !end).map((record) => [record.activityId, record]))
    for (const { activityId, attempt, state, lastFailure, heartbeatDetails } of pending) {
      const record = open.get(activityId ?? '')
      if (!record) continue
      record.started = Number(state) === pendingStateStarted
      record.attempts = Math.max((attempt ?? 1) - (record.started ? 0 : 1), 0)
      record.lastFailure = await this.#reader.failure(lastFailure)
      record.blocked = (await this.#reader.blockedNote(heartbeatDetails)) ?? record.blocked
    }
  }

  async read(event: HistoryEvent): Promise<void> {
    const at = timeOf(event.eventTime)
    const scheduled = event.activityTaskScheduledEventAttributes
    if (scheduled) {
      const name = scheduled.activityType?.name ?? ''
      const summary = await this.#reader.value(event.userMetadata?.summary)
      this.#byEvent.set(idOf(event.eventId), {
        activityId: scheduled.activityId ?? '',
        summary: typeof summary === 'string' ? summary : name,
        scheduledAt: at,
        work: readWork(name, await this.#reader.first(scheduled.input)),
        started: false,
        attempts: 0,
        lastFailure: undefined,
        blocked: undefined,
        end: undefined,
      })
      return
    }
    const started = event.activityTaskStartedEventAttributes
    if (started) {
      const record = this.#byEvent.get(idOf(started.scheduledEventId))
      if (!record) return
      record.started = true
      record.attempts = started.attempt ?? 1
      record.lastFailure = await this.#reader.failure(started.lastFailure)
      return
    }
    const completed = event.activityTaskCompletedEventAttributes
    if (completed) {
      const record = this.#byEvent.get(idOf(completed.scheduledEventId))
      if (!record) return
      const value = await this.#reader.first(completed.result)
      record.blocked = await this.#reader.blockedNote(undefined, completed.result)
      record.end = { type: 'completed', at, answer: readAnswer(record.work, value, this.#previewCharacters) }
      return
    }
    const failed = event.activityTaskFailedEventAttributes ?? event.activityTaskTimedOutEventAttributes
    if (failed) {
      const record = this.#byEvent.get(idOf(failed.scheduledEventId))
      if (!record) return
      const failure = (await this.#reader.failure(failed.failure)) ?? { code: 'UNKNOWN', message: '' }
      const { timeoutFailureInfo } = failed.failure?.cause ?? failed.failure ?? {}
      record.blocked = await this.#reader.blockedNote(timeoutFailureInfo?.lastHeartbeatDetails)
      record.end = { type: 'failed', at, failure }
      return
    }
    const cancelled = event.activityTaskCanceledEventAttributes
    const record = cancelled && this.#byEvent.get(idOf(cancelled.scheduledEventId))
    if (record) record.end = { type: 'cancelled', at, failure: { code: 'CANCELLED', message: 'cancelled' } }
  }
}
